import { expect, test } from 'vitest'
import { formatWallTime } from '../../src/core/wall-clock.ts'
import { type EmulatedService, startEmulatedService } from '../helpers/emulated-service.ts'
import { firstChannel } from '../helpers/first-rows.ts'

const RECORDS = '/v2/activities/:channel/userRecordList'
const VISITORS = '/v2/activities/:channel/visitorList'

type Fields = Readonly<Record<string, unknown>>

async function listOf(service: EmulatedService, path: string, field: string, body: object): Promise<Fields[]> {
  const { text } = await service.call('POST', path, body)
  const json = JSON.parse(text.replace(/"record_id":(\d+)/g, '"record_id":"$1"'))
  return field === '' ? json : json[field]
}

const channelOf = ({ emulator }: EmulatedService) => firstChannel(emulator)

test.each([
  ['inclusive', ['a', 'b', 'c']],
  ['exclusive', ['b']],
  ['half-open', ['a', 'b']],
] as const)('a time filter is %s', async (filterEnds, expected) => {
  await using service = await startEmulatedService({ switches: { filterEnds, rowOrder: 'time-asc' } })
  const { records } = channelOf(service)
  const [sample] = records.rows
  const at = 1_600_000_000
  if (sample) records.add(...['a', 'b', 'c'].map((nick, index) => ({ ...sample, nick, enteredAt: at + index * 10 })))
  const body = { start_time: formatWallTime(at), end_time: formatWallTime(at + 20) }
  expect((await listOf(service, RECORDS, 'results', body)).map((row) => row['nick'])).toEqual(expected)
})

const orders = ['time-asc', 'time-desc', 'id-asc', 'id-desc', 'shuffled'] as const
test.each(orders)('watch records in the order %s: each row is on exactly one page', async (rowOrder) => {
  await using service = await startEmulatedService({ switches: { rowOrder } })
  const byTime = channelOf(service).records.rows.toSorted((a, b) => a.enteredAt - b.enteredAt)
  const expected = byTime.map(({ recordId }) => recordId)
  const ids: string[] = []
  for (let p = 1; p <= Math.ceil(expected.length / 17); p += 1) {
    ids.push(...(await listOf(service, RECORDS, 'results', { p, perPage: 17 })).map((row) => String(row['record_id'])))
  }
  expect(ids.toSorted()).toEqual(expected.toSorted())
  expect(ids.join() === expected.join()).toBe(rowOrder.endsWith('asc'))
  expect(ids.toReversed().join() === expected.join()).toBe(rowOrder.endsWith('desc'))
})

test.each([
  ['last-online', 'last_online_time'],
  ['first-login', 'first_login_time'],
  ['watch-time', 'watch_time'],
  ['user-id', 'user_id'],
] as const)('visitors are ordered by %s in both directions', async (visitorOrder, field) => {
  await using service = await startEmulatedService({ switches: { visitorOrder } })
  const ascending = await listOf(service, VISITORS, 'results', { direction: 'asc', perPage: 100 })
  const values = ascending.map((row) => String(row[field]).padStart(visitorOrder === 'watch-time' ? 12 : 0, '0'))
  expect(values).toEqual(values.toSorted())
  expect(await listOf(service, VISITORS, 'results', { perPage: 100 })).toEqual(ascending.toReversed())
})

test('filter 1 hides visitors who watched under a minute, filter_watch_time 1 records without watch time', async () => {
  await using service = await startEmulatedService({ viewers: 300 })
  const { visitors, records } = channelOf(service)
  const total = async (path: string, body: object) =>
    Reflect.get(Object((await service.call('POST', path, body)).json), 'total_num')
  expect(await total(VISITORS, { filter: 1 })).toBe(visitors.rows.filter((row) => row.watchSeconds >= 60).length)
  expect(await total(VISITORS, { filter: '0' })).toBe(visitors.rows.length)
  expect(await total(RECORDS, { filter_watch_time: 1 })).toBe(records.rows.filter((row) => row.watchSeconds > 0).length)
  expect(await total(RECORDS, {})).toBe(records.rows.length)
  expect(await total(VISITORS, { filter: 1 })).toBeLessThan(visitors.rows.length)
  expect(await total(RECORDS, { filter_watch_time: 1 })).toBeLessThan(records.rows.length)
})

test('a page beyond the last is empty, the first or the last one again, or refused', async () => {
  await using service = await startEmulatedService()
  const { switches } = service.emulator
  const fetchPage = (p: number) => service.call('POST', VISITORS, { perPage: 50, p })
  expect((await fetchPage(9)).json).toMatchObject({ results: [], page_num: 9, total_num: 60 })
  switches.beyondLastPage = 'repeat-last'
  expect((await fetchPage(9)).json).toEqual((await fetchPage(2)).json)
  switches.beyondLastPage = 'repeat-first'
  expect((await fetchPage(9)).json).toEqual((await fetchPage(1)).json)
  switches.beyondLastPage = 'error'
  expect(await fetchPage(9)).toMatchObject({ status: 400, json: { errors: { code: 400001 } } })
  expect((await fetchPage(2)).status).toBe(200)
})

test.each([
  ['array', []],
  ['null', null],
  ['missing', undefined],
] as const)('an empty list is %s', async (emptyLists, expected) => {
  await using service = await startEmulatedService({ channels: 5, viewers: 0, switches: { emptyLists } })
  const fieldOf = (json: unknown, field: string) => Reflect.get(Object(json), field)
  expect(fieldOf((await service.call('POST', VISITORS, {})).json, 'results')).toEqual(expected)
  expect(fieldOf((await service.call('POST', RECORDS, {})).json, 'results')).toEqual(expected)
  const usage = await service.call('GET', '/v1/account/managersUsage?username=nobody')
  expect(fieldOf(usage.json, 'data')).toEqual(expected)
  const questions = `/v1/activities/${service.emulator.channelIds[4]}/getQuestionList`
  expect(fieldOf((await service.call('GET', questions)).json, 'question_list')).toEqual(expected)
  const question_id = channelOf(service).questionnaires.rows[0]?.questionId
  const signups = await service.call('POST', '/v1/activities/:channel/signupRecord', { question_id })
  expect(fieldOf(signups.json, 'data')).toEqual(expected)
  expect(Array.isArray(fieldOf(signups.json, 'title'))).toBe(emptyLists === 'array')
  const gifts = await service.call('POST', '/v1/activities/:channel/giftRunning', { type: 'cash' })
  expect(gifts.json).toEqual(emptyLists === 'null' ? null : [])
})
