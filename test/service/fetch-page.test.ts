import { describe, expect, test } from 'vitest'
import { type ScriptedAnswer, type SeenRequest, startScriptedService } from '../helpers/scripted-service.ts'
import { connectClient, errorOf, openContext } from '../helpers/connect-client.ts'
import { listOf } from '../helpers/emulated-client.ts'

const rows = Array.from({ length: 45 }, (_row, id) => ({ id }))

/** Answers 4.8 and 4.9 from the parameters of one place, or of none; numbers as texts where `isText`. */
function managers(heeded: 'query' | 'body' | 'none', { isText = false, most = 100 } = {}) {
  return ({ query, body }: SeenRequest): ScriptedAnswer => {
    const given = heeded === 'none' ? {} : heeded === 'query' ? query : Object(body)
    const p = Number(given.p ?? 1)
    const perPage = Math.min(Number(given.perPage ?? 20), most)
    const echo = (value: number) => (isText ? String(value) : value)
    const data = rows.slice((p - 1) * perPage, p * perPage)
    return { json: { page: { p: echo(p), perPage: echo(perPage), count: echo(rows.length) }, data } }
  }
}

const first = { page: 1, pageSize: 10 }

describe('where 4.8 and 4.9 expect their parameters', () => {
  test('the configured place is used when it works, also with an echo as text', async () => {
    await using service = await startScriptedService(managers('query', { isText: true }))
    await using connection = connectClient(service.url)
    const page = await connection.fetchPage({ list: listOf('managers'), ...first }, openContext())
    expect(page.items).toHaveLength(10)
    expect(service.requests).toHaveLength(1)
  })

  test.each([
    ['query', 'body'],
    ['body', 'query'],
  ] as const)('configured as %s, it is found to be %s, and remembered', async (listParams, actual) => {
    await using service = await startScriptedService(managers(actual))
    await using connection = connectClient(service.url, { listParams })
    expect((await connection.fetchPage({ list: listOf('manager_usage'), ...first }, openContext())).items).toEqual(
      rows.slice(0, 10),
    )
    expect(service.requests).toHaveLength(2)
    const second = await connection.fetchPage({ list: listOf('manager_usage'), ...first, page: 2 }, openContext())
    expect(second.items).toEqual(rows.slice(10, 20))
    expect(service.requests).toHaveLength(3)
  })

  test('when neither works, the error says what was asked and what came', async () => {
    await using service = await startScriptedService(managers('none'))
    await using connection = connectClient(service.url)
    const call = connection.fetchPage({ list: listOf('managers'), page: 2, pageSize: 10 }, openContext())
    await expect(call).rejects.toMatchObject({ code: 'paging.ignored' })
    await expect(call).rejects.toThrow(/asked for page 2 of 10, the answer says page 1 of 20/)
    expect(service.requests).toHaveLength(2)
  })
})

// What a probe asks.

test('a refusal is an answer: it is not asked again', async () => {
  await using service = await startScriptedService(() => ({ json: { errcode: 2001, msg: 'page' } }))
  await using connection = connectClient(service.url)
  const list = listOf('signups', { channel: '9', question: 'ab' })
  expect(await errorOf(connection.ask({ list, page: 9, pageSize: 50 }, openContext()))).toMatchObject({
    code: 'api.refused',
  })
  expect(service.requests).toHaveLength(1)
})

test('a failure of transport is repeated once, and no more', async () => {
  await using service = await startScriptedService(() => ({ status: 502, text: '' }))
  await using connection = connectClient(service.url)
  await errorOf(connection.ask({ list: listOf('managers'), page: 1, pageSize: 50 }, openContext()))
  expect(service.requests).toHaveLength(2)
})

test('the list parameters stand where they are told to, and no other place is tried', async () => {
  const json = { page: { p: 1, perPage: 20, count: 25 }, data: [] }
  await using service = await startScriptedService(() => ({ json }))
  await using connection = connectClient(service.url)
  const request = { list: listOf('managers'), page: 1, pageSize: 7 }
  await connection.ask(request, openContext(), 'query')
  await connection.ask(request, openContext(), 'body')
  expect(service.requests.map(({ query, body }) => ({ query, body }))).toEqual([
    { query: { p: '1', perPage: '7' }, body: undefined },
    { query: {}, body: { p: 1, perPage: 7 } },
  ])
})
