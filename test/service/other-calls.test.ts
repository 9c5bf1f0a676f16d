import { expect, test } from 'vitest'
import { saveMenu } from '../../src/service/other-calls.ts'
import { connectClient, errorOf, fetchTicket, openContext } from '../helpers/connect-client.ts'
import { type ScriptedAnswer, startScriptedService } from '../helpers/scripted-service.ts'

const request = { scope: 'outer_visitor', outerid: 'user42', hash_act_id: 'exov5dm9', client_ip: '203.0.113.7' }

/** The ticket or error that a request gives, and the number of calls. */
async function requestTicket(answer: ScriptedAnswer) {
  await using service = await startScriptedService(({ path }) =>
    path.endsWith('token') ? { json: { access_token: 'token-1' } } : answer,
  )
  await using connection = connectClient(service.url, { appId: 'app', appSecret: 'secret' })
  const ticket = await fetchTicket(connection, request).catch((error: unknown) => error)
  return { ticket, callCount: service.requests.filter(({ path }) => path.endsWith('ticket')).length }
}

test.each([
  [{ tikect: 't1' }, 't1'],
  [{ ticket: 't1' }, 't1'],
  [{ tikect: 't1', ticket: 't2' }, 't1'],
  [{ errcode: 1000, msg: 'invalid scope' }, { code: 'api.badShape' }],
  [{ tikect: '' }, { code: 'api.badShape' }],
  [{ tikect: 7 }, { code: 'api.badShape' }],
  [null, { code: 'api.badShape' }],
])('4.2: the ticket of %j is %j', async (json, ticket) => {
  expect(await requestTicket({ json })).toMatchObject({ ticket, callCount: 1 })
})

const failures = [{ status: 502, text: '' }, { status: 429, text: '' }, { json: { errcode: 7, msg: 'busy' } }]
test.each(failures)('4.2: a failure is not repeated: a ticket may have been issued (%j)', async (answer) => {
  expect((await requestTicket(answer)).callCount).toBe(1)
})

test('4.3 posts the fields of the spec, and is never repeated', async () => {
  await using service = await startScriptedService(() => ({ status: 502, text: '' }))
  await using connection = connectClient(service.url)
  const menu = { name: '回放', type: 3, rich_text: '<p>', videos: [{ vid: 1 }, { vid: 2 }] }
  await errorOf(saveMenu(connection.send, { channelId: '9', menuId: undefined }, menu, openContext()))
  expect(service.requests).toMatchObject([{ method: 'POST', path: '/v1/activities/9/saveMenu', body: menu }])
})

test('4.4 updates the menu by PUT, and is repeated after a failure but not after a refusal', async () => {
  const saved = { json: { menu_id: 1234, result: 'success' } }
  const refused = { json: { errcode: 7, msg: 'busy' } }
  const busy = { status: 502, text: '' }
  await using service = await startScriptedService((_request, index) => [saved, refused][index - 4] ?? busy)
  await using connection = connectClient(service.url)
  const save = async () =>
    await saveMenu(connection.send, { channelId: '9', menuId: 1234 }, { name: '互动' }, openContext())
  expect(await save()).toEqual({ menuId: 1234, result: 'success' })
  const call = { method: 'PUT', path: '/v1/activities/9/saveMenu/1234', body: { name: '互动' } }
  expect(service.requests).toMatchObject([call, call, call, call, call])
  expect(await errorOf(save())).toMatchObject({ code: 'api.refused' })
  expect(service.requests).toHaveLength(6)
})
