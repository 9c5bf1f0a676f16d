import { expect, test } from 'vitest'
import type { ListRequest } from '../../src/core/page.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { connectClient, errorOf, openContext } from '../helpers/connect-client.ts'
import { listOf } from '../helpers/emulated-client.ts'
import { type ScriptedAnswer, type SeenRequest, startScriptedService } from '../helpers/scripted-service.ts'

const visitorList = listOf('visitors', { channel: '9' })
const gifts = listOf('gifts', { channel: '9', type: 'cash' })
const records = listOf('watch_records', { channel: '9' })
const recordsV1 = listOf('watch_records_v1', { channel: '9' })
const questions = listOf('questionnaires', { channel: '9' })
const signups = listOf('signups', { channel: '9', question: 'ab' })
const managerList = listOf('managers')

const rows = Array.from({ length: 45 }, (_row, id) => ({ id }))

/** Answers 4.8 and 4.9 by the parameters of one place; with `isText`, numbers are text. */
function managers(place: 'query' | 'body', { isText = false } = {}) {
  return ({ query, body }: SeenRequest): ScriptedAnswer => {
    const { p = 1, perPage = 20 } = place === 'query' ? query : Object(body)
    const echo = (value: number) => (isText ? String(value) : value)
    const [page, size] = [Number(p), Number(perPage)]
    const data = rows.slice((page - 1) * size, page * size)
    return { json: { page: { p: echo(page), perPage: echo(size), count: echo(rows.length) }, data } }
  }
}

const first = { page: 1, pageSize: 10 }

test('the configured place for the parameters of 4.8 and 4.9 is used if it works, even with a text echo', async () => {
  await using service = await startScriptedService(managers('query', { isText: true }))
  await using connection = connectClient(service.url)
  expect((await connection.fetchPage({ list: managerList, ...first }, openContext())).items).toHaveLength(10)
  expect(service.requests).toHaveLength(1)
})

test.each([
  ['query', 'body'],
  ['body', 'query'],
] as const)('the place of 4.8 and 4.9, configured as %s, is found to be %s, and kept', async (listParams, actual) => {
  await using service = await startScriptedService(managers(actual))
  await using connection = connectClient(service.url, { listParams })
  const pageOf = async (page: number) =>
    (await connection.fetchPage({ list: listOf('manager_usage'), page, pageSize: 10 }, openContext())).items
  expect(await pageOf(1)).toEqual(rows.slice(0, 10))
  expect(service.requests).toHaveLength(2)
  expect(await pageOf(2)).toEqual(rows.slice(10, 20))
  expect(service.requests).toHaveLength(3)
})

test.each<[string, number, ScriptedAnswer, object]>([
  ['a refusal is an answer', 1, { json: { errcode: 2001, msg: 'page' } }, { code: 'api.refused' }],
  ['a failure of transport', 2, { status: 502, text: '' }, { code: 'api.status' }],
])('%s: the page is requested %i times and no more', async (_, times, answer, error) => {
  await using service = await startScriptedService(() => answer)
  await using connection = connectClient(service.url)
  expect(await errorOf(connection.ask({ list: signups, page: 9, pageSize: 50 }, openContext()))).toMatchObject(error)
  expect(service.requests).toHaveLength(times)
})

/** The page or error that the client makes of an answer, and the requests. */
async function read(list: ListRequest, json: unknown, page = 1, pageSize = 20) {
  await using service = await startScriptedService(() => ({ json }))
  const reservation = { scope: 'account', serviceDay: '', resumesAt: '', spendDay: async () => {} }
  await using connection = connectClient(service.url, { reserve: async () => reservation })
  // Before 4.6, `/` is requested for the time.
  return {
    ...(await connection.fetchPage({ list, page, pageSize }, openContext())),
    sent: service.requests.filter(({ path }) => path !== '/'),
  }
}

const [from, to] = ['2026-01-01 00:00:00', '2026-02-01 00:00:00']
const window = { from: parseWallTime(from) ?? 0, to: parseWallTime(to) ?? 0 }
const range = { start_time: from, end_time: to }
const cash = { ...gifts, window }
const page2 = { perPage: 50, p: 2 }
const index2 = { page_size: 50, page_index: 2 }
const noRows = { results: [], data: [], title: [], question_list: [] }
const empty = { ...noRows, errcode: 1000, total_num: 0, total: 0, page: { count: 0 } }

test.each<[ListRequest, string, string, object]>([
  [visitorList, 'POST', '/v2/activities/9/visitorList', { filter: '0', direction: 'desc', ...page2 }],
  [{ ...records, window }, 'POST', '/v2/activities/9/userRecordList', { ...range, filter_watch_time: 0, ...page2 }],
  [recordsV1, 'POST', '/v1/activities/9/userRecords', { filter_watch_time: 0, ...page2 }],
  [cash, 'POST', '/v1/activities/9/giftRunning', { type: 'cash', startTime: from, endTime: to, ...page2 }],
  [questions, 'GET', '/v1/activities/9/getQuestionList', index2],
  [{ ...signups, window }, 'POST', '/v1/activities/9/signupRecord', { question_id: 'ab', ...range, ...index2 }],
])('$stream.name is requested as its section of the spec says', async (list, method, path, body) => {
  const { items, sent } = await read(list, list.stream.isCounted ? empty : [], 2, 50)
  expect(items).toEqual([])
  expect(sent).toMatchObject([{ method, path, query: {}, body, headers: { authorization: 'Bearer fixed-token' } }])
})

test.each<[string, ListRequest, unknown, page?: number]>([
  ['an object for a bare array, with rows beside a null', gifts, { errcode: 1000, list: [{ id: 1 }], data: null }],
  ['a text for a bare array', recordsV1, 'none'],
  ['a missing list although there is a total', visitorList, { total_num: 3 }],
  ['none on the last page that must hold rows', visitorList, { total_num: 21, page_size: 20 }, 2],
  ['an object for the list', managerList, { page: { count: 0 }, data: {} }],
  ['a negative total', visitorList, { total_num: -1, results: [] }],
  ['a total that is no integer', visitorList, { total_num: '3.5', results: [] }],
  ['signups without title', signups, { total: 1, data: [['1']] }],
  ['signups whose title is an object', signups, { total: 1, data: [['1']], title: {} }],
  ['errcode 1000 alone', questions, { errcode: 1000, msg: 'Invalid parameters' }],
])('an answer without a list never counts as "no rows": %s', async (_name, list, json, page) => {
  expect(await errorOf(read(list, json, page))).toMatchObject({ code: 'api.badShape' })
})

test.each<[string, ListRequest, unknown, number]>([
  ['null and total 0', questions, { errcode: 1000, total: 0, question_list: null }, 1],
  ['null and total 0 as text', visitorList, { total_num: '0', results: null }, 1],
  ['signups without data and title', signups, { errcode: 1000, msg: 'OK', total: 0 }, 1],
  ['signups with null for both', signups, { errcode: 1000, total: 0, data: null, title: null }, 1],
  ['null for a bare array', gifts, null, 1],
  ['null if only page 1 has the total', visitorList, { results: null }, 2],
  ['a missing list past the last page', visitorList, { total_num: 20, page_size: 20 }, 2],
  ['null, whatever the total', visitorList, { total_num: 3, results: null }, 1],
])('null is an empty page, and so is a missing list if the total allows: %s', async (_name, list, json, page) => {
  expect((await read(list, json, page)).items).toEqual([])
})

test('an error describes the shape without values, and names the missing total', async () => {
  const answer = read(gifts, { 'a private name': 'abcdef', msg: 'private' })
  await expect(answer).rejects.toThrow(/answer is an object of 2 fields \(msg\) where an array belongs$/)
  const missing = /page 1: the answer is an object of 1 fields \(results\).*: its field total_num, .* is missing$/
  await expect(read(visitorList, { results: [] })).rejects.toThrow(missing)
  // A later page may lack its total, but it may not be malformed.
  await expect(read(visitorList, { results: [], total_num: 'many' }, 2)).rejects.toThrow('page 2: the answer is')
  await expect(read(visitorList, {}, 2)).rejects.toThrow('nothing instead of the list, and there is no')
  expect(await read(visitorList, { results: [{ id: 1 }] }, 2)).toMatchObject({ items: [{ id: 1 }], total: undefined })
})
