import { describe, expect, test } from 'vitest'
import { type EmulatedService, startEmulatedService } from '../helpers/emulated-service.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { rawCall } from '../helpers/raw-call.ts'

const CLIENT = { grant_type: 'client_credential', appid: 'emulator-app', secret: 'emulator-secret' }

async function fetchToken({ auth }: EmulatedService): Promise<string> {
  const { json } = await auth('token', CLIENT)
  return String(Reflect.get(Object(json), 'access_token'))
}

async function statusWith({ emulator }: EmulatedService, bearer: string): Promise<number> {
  const { status } = await rawCall({ url: `${emulator.baseUrl}/v1/account/managers`, bearer })
  return status
}

describe('4.1 token', () => {
  test('is valid for two hours and no longer', async () => {
    const clock = createFakeClock()
    await using service = await startEmulatedService({ clock })
    const { json } = await service.auth('token', CLIENT)
    expect(json).toEqual({ errcode: 1000, msg: 'OK', access_token: expect.any(String), expire_time: 7200 })
    const token = String(Reflect.get(Object(json), 'access_token'))
    await clock.advance(7199_000)
    expect(await statusWith(service, token)).toBe(200)
    await clock.advance(1000)
    expect(await statusWith(service, token)).toBe(401)
  })

  test.each([
    ['a wrong secret', { ...CLIENT, secret: 'guess' }, 401001],
    ['a wrong app id', { ...CLIENT, appid: 'other' }, 401001],
    ['another grant type', { ...CLIENT, grant_type: 'password' }, 400001],
    ['no app id', { grant_type: 'client_credential', secret: 'x' }, 400002],
  ])('%s is refused', async (_, params, errcode) => {
    await using service = await startEmulatedService()
    const { json } = await service.auth('token', params)
    expect(json).toMatchObject({ errcode, msg: expect.any(String) })
    expect(json).not.toHaveProperty('access_token')
  })

  test('whether a new one ends the old one is a switch', async () => {
    await using service = await startEmulatedService()
    const first = await fetchToken(service)
    await fetchToken(service)
    expect(await statusWith(service, first)).toBe(200)
    service.emulator.switches.newTokenEndsOld = true
    await fetchToken(service)
    expect(await statusWith(service, first)).toBe(401)
  })

  test('which bearers open the data is a switch', async () => {
    await using service = await startEmulatedService()
    const { emulator } = service
    const fetched = await fetchToken(service)
    emulator.switches.bearers = 'fixed'
    expect([await statusWith(service, fetched), await statusWith(service, emulator.apiToken)]).toEqual([401, 200])
    emulator.switches.bearers = 'fetched'
    expect([await statusWith(service, fetched), await statusWith(service, emulator.apiToken)]).toEqual([200, 401])
  })
})

async function ticketParams(service: EmulatedService): Promise<Record<string, string>> {
  return {
    appid: 'emulator-app',
    token: await fetchToken(service),
    scope: 'outer_visitor',
    outerid: 'person-1',
    hash_act_id: service.emulator.world.channels.get(service.channelId)?.hashId ?? '',
    username: '张伟',
    client_ip: '10.0.0.1',
  }
}

describe('4.2 ticket', () => {
  test('opens the door once', async () => {
    await using service = await startEmulatedService()
    const { json } = await service.auth('ticket', await ticketParams(service))
    expect(json).toEqual({ errcode: 1000, msg: 'OK', tikect: expect.any(String) })
    const ticket = String(Reflect.get(Object(json), 'tikect'))
    const entered = await service.auth('authorize', { ticket, redirect_uri: 'https://example.com/live?a=1' })
    expect(entered.status).toBe(302)
    expect(entered.headers['location']).toBe('https://example.com/live?a=1')
    expect(entered.headers['set-cookie']).toBeDefined()
    const again = await service.auth('authorize', { ticket })
    expect(again).toMatchObject({ status: 200, json: { errcode: 400001 } })
  })

  test('is burned after five minutes', async () => {
    const clock = createFakeClock()
    await using service = await startEmulatedService({ clock })
    const params = await ticketParams(service)
    const tickets = await Promise.all([service.auth('ticket', params), service.auth('ticket', params)])
    const [first = '', second = ''] = tickets.map(({ json }) => String(Reflect.get(Object(json), 'tikect')))
    await clock.advance(299_000)
    expect((await service.auth('authorize', { ticket: first })).status).toBe(302)
    await clock.advance(1000)
    expect((await service.auth('authorize', { ticket: second })).json).toMatchObject({ errcode: 400001 })
  })

  test.each([
    ['a fixed bearer as token', { token: 'emulator-token' }, 401001],
    ['an unknown scope', { scope: 'owner' }, 400001],
    ['the numeric id of the channel', { hash_act_id: '10001589' }, 404002],
    ['an outer id of 33 units', { outerid: '中'.repeat(11) }, 400001],
    ['an assistant without a title', { scope: 'act_assistant' }, 400002],
    ['an unknown title', { scope: 'act_assistant', title: 'boss' }, 400001],
    ['no client address', { client_ip: '' }, 400002],
    ['a first login without a user name', { username: '' }, 400002],
  ])('%s is refused', async (_, wrong, errcode) => {
    await using service = await startEmulatedService()
    const { json } = await service.auth('ticket', { ...(await ticketParams(service)), ...wrong })
    expect(json).toMatchObject({ errcode })
  })
})

const PATH = '/v1/activities/:channel/saveMenu'

describe('4.3 adds a menu', () => {
  test('with the defaults of the spec, once for each call', async () => {
    await using service = await startEmulatedService()
    const menus = service.emulator.world.channels.get(service.channelId)?.menus
    const before = menus?.size ?? 0
    const { json } = await service.call('POST', PATH, {})
    expect(json).toEqual({ menu_id: expect.any(Number), result: 'success' })
    await service.call('POST', PATH, {})
    expect(menus?.size).toBe(before + 2)
    expect(menus?.get(Number(Reflect.get(Object(json), 'menu_id')))).toMatchObject({ name: '菜单名称', type: 3 })
  })
})

describe('4.4 changes a menu', () => {
  test('what is given changes, the rest stays', async () => {
    await using service = await startEmulatedService()
    const menus = service.emulator.world.channels.get(service.channelId)?.menus
    const { json } = await service.call('POST', PATH, { name: '资料', type: 2, rich_text: 'a' })
    const menuId = Number(Reflect.get(Object(json), 'menu_id'))
    const changed = await service.call('PUT', `${PATH}/${menuId}`, { name: '下载' })
    expect(changed.json).toEqual({ menu_id: menuId, result: 'success' })
    expect(menus?.get(menuId)).toMatchObject({ name: '下载', type: 2, richText: 'a' })
  })

  test('an unknown one is refused', async () => {
    await using service = await startEmulatedService()
    expect(await service.call('PUT', `${PATH}/1`, {})).toMatchObject({ status: 404 })
  })
})
