import { expect, test } from 'vitest'
import type { Exchange, MeasuredCall } from '../../src/service/read-answer.ts'
import { connectClient, openContext } from '../helpers/connect-client.ts'
import { connectTo, listOf } from '../helpers/emulated-client.ts'
import { startEmulatedService } from '../helpers/emulated-service.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

test.each<[string, string, number]>([
  ['seconds', '7', 7000],
  ['an HTTP date', 'Fri, 20 Nov 2026 06:00:09 GMT', 9000],
  ['a date that has passed', 'Fri, 20 Nov 2026 05:00:00 GMT', 0],
  ['a day', '86400', 60_000],
  ['nonsense', 'soon', 0],
])('Retry-After as %s', async (_name, header, waitMs) => {
  const clock = createFakeClock({ isAutomatic: true })
  await using service = await startScriptedService((_request, index) =>
    index === 0 ? { status: 503, headers: { 'retry-after': header }, text: '' } : { json: [] },
  )
  await using connection = connectClient(service.url, { clock, random: () => 0 })
  await connection.fetchPage(
    { list: listOf('gifts', { channel: '9', type: 'cash' }), page: 1, pageSize: 100 },
    openContext(),
  )
  expect(clock.waits).toEqual([waitMs])
})

test('the service time of an answer is its Date header', async () => {
  await using service = await startScriptedService(() => ({
    headers: { date: 'Fri, 20 Nov 2026 06:00:09 GMT' },
    json: [],
  }))
  await using connection = connectClient(service.url)
  const page = await connection.fetchPage(
    { list: listOf('gifts', { channel: '9', type: 'cash' }), page: 1, pageSize: 100 },
    openContext(),
  )
  expect(page.serviceTimeMs).toBe(Date.UTC(2026, 10, 20, 6, 0, 9))
})

test('every attempt is seen as it came, with what the service asks of the caller', async () => {
  const page = { page: { p: 1, perPage: '20', count: 0 }, data: [] }
  await using service = await startScriptedService((_, index) =>
    index === 0 ? { status: 429, headers: { 'retry-after': '2', 'x-trace': 'a' }, json: {} } : { json: page },
  )
  const seen: Exchange[] = []
  await using connection = connectClient(service.url, {
    clock: createFakeClock({ isAutomatic: true }),
    onExchange: (exchange) => void seen.push(exchange),
  })
  await connection.fetchPage({ list: listOf('managers'), page: 1, pageSize: 20 }, openContext())
  expect(seen.map(({ answer }) => [answer.status, answer.retryAfter])).toEqual([
    [429, '2'],
    [200, undefined],
  ])
  expect(seen[0]?.answer.headers['x-trace']).toBe('a')
  expect(seen[1]).toMatchObject({
    call: { endpoint: 'managers' },
    answer: { text: JSON.stringify(page) },
    elapsedMs: 0,
  })
})

test('no token and no secret is shown', async () => {
  await using service = await startEmulatedService()
  const seen: Exchange[] = []
  const { emulator } = service
  await using connection = connectTo(emulator, { apiToken: null, onExchange: (exchange) => void seen.push(exchange) })
  await connection.fetchPage({ list: listOf('managers'), page: 1, pageSize: 20 }, openContext())
  expect(seen.map(({ call }) => call.endpoint)).toEqual(['managers'])
  expect(Object.keys(seen[0]?.call ?? {})).not.toContain('bearer')
  expect(JSON.stringify(seen)).not.toContain(emulator.appSecret)
})

test('a connection tells of every attempt, refused ones too', async () => {
  const page = { page: { p: 1, perPage: '20', count: 0 }, data: [] }
  await using service = await startScriptedService((_, index) =>
    index === 0 ? { status: 429, json: {} } : { json: page },
  )
  const calls: MeasuredCall[] = []
  await using connection = connectClient(service.url, { onCall: (each) => void calls.push(each) })
  await connection.fetchPage({ list: listOf('managers'), page: 1, pageSize: 20 }, openContext())
  expect(calls.map(({ endpoint, outcome }) => [endpoint, outcome])).toEqual([
    ['managers', 'api.rateLimited'],
    ['managers', 'ok'],
  ])
})

test('a failure is reported by its code, and what a signal ended says nothing of the service', async () => {
  await using service = await startScriptedService(() => ({ status: 403, json: {} }))
  const calls: MeasuredCall[] = []
  await using connection = connectClient(service.url, { onCall: (each) => void calls.push(each) })
  const request = { list: listOf('managers'), page: 1, pageSize: 20 }
  await connection.fetchPage(request, openContext()).catch(() => {})
  expect(calls).toMatchObject([{ outcome: 'api.forbidden' }])
  const ending = new AbortController()
  const onAttempt = () => ending.abort(new Error('gone'))
  await connection.fetchPage(request, { signal: ending.signal, onAttempt }).catch(() => {})
  expect(calls).toHaveLength(1)
})
