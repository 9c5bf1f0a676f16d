import { describe, expect, test } from 'vitest'
import { startEmulatedService } from '../helpers/emulated-service.ts'

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

  test.each([
    ['five Chinese characters', { name: '菜单名称五' }, 400, 400001],
    ['nine letters', { name: 'ninechars' }, 400, 400001],
    ['an unknown type', { type: 5 }, 400, 400001],
    ['a second chat menu', { type: 1 }, 400, 400001],
    ['a video as text', { type: 3, videos: [{ vid: '522323' }] }, 400, 400001],
    ['a video without an id', { type: 3, videos: [{}] }, 400, 400002],
    ['a video of someone else', { type: 3, videos: [{ vid: 7 }] }, 404, 404003],
    ['videos that are no array', { videos: {} }, 400, 400001],
  ])('but not with %s', async (_, body, status, code) => {
    await using service = await startEmulatedService()
    const menus = service.emulator.world.channels.get(service.channelId)?.menus
    const before = menus?.size
    expect(await service.call('POST', PATH, body)).toMatchObject({ status, json: { errors: { code } } })
    expect(menus?.size).toBe(before)
  })

  test.each([
    { name: '菜单名称' },
    { name: 'eightchr' },
    { type: 2, rich_text: '<p>你好</p>' },
    { videos: [{ vid: 522323 }] },
  ])('with %j', async (body) => {
    await using service = await startEmulatedService()
    expect(await service.call('POST', PATH, body)).toMatchObject({ status: 200, json: { result: 'success' } })
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

  test('the chat menu may be saved again, and after it has become another one a new chat menu may be added', async () => {
    await using service = await startEmulatedService()
    const [chat] = service.emulator.world.channels.get(service.channelId)?.menus.keys() ?? []
    expect(await service.call('PUT', `${PATH}/${chat}`, { name: '聊天' })).toMatchObject({ status: 200 })
    expect(await service.call('PUT', `${PATH}/${chat}`, { type: 4 })).toMatchObject({ status: 200 })
    expect(await service.call('POST', PATH, { type: 1 })).toMatchObject({ status: 200 })
  })
})
