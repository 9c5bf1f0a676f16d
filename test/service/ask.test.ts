import { expect, test } from 'vitest'
import { connectClient, errorOf, openContext } from '../helpers/connect-client.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

test('a refusal is an answer: it is not asked again', async () => {
  await using service = await startScriptedService(() => ({ json: { errcode: 2001, msg: 'page' } }))
  await using connection = connectClient(service.url)
  const list = { endpoint: 'signupRecord', channelId: '9', questionId: 'ab' } as const
  expect(await errorOf(connection.ask({ list, page: 9, pageSize: 50 }, openContext()))).toMatchObject({
    code: 'api.refused',
  })
  expect(service.requests).toHaveLength(1)
})

test('a failure of transport is repeated once, and no more', async () => {
  await using service = await startScriptedService(() => ({ status: 502, text: '' }))
  await using connection = connectClient(service.url)
  await errorOf(connection.ask({ list: { endpoint: 'managers' }, page: 1, pageSize: 50 }, openContext()))
  expect(service.requests).toHaveLength(2)
})

test('the list parameters stand where they are told to, and no other place is tried', async () => {
  const json = { page: { p: 1, perPage: 20, count: 25 }, data: [] }
  await using service = await startScriptedService(() => ({ json }))
  await using connection = connectClient(service.url)
  const request = { list: { endpoint: 'managers' }, page: 1, pageSize: 7 } as const
  await connection.ask(request, openContext(), 'query')
  await connection.ask(request, openContext(), 'body')
  expect(service.requests.map(({ query, body }) => ({ query, body }))).toEqual([
    { query: { p: '1', perPage: '7' }, body: undefined },
    { query: {}, body: { p: 1, perPage: 7 } },
  ])
})
