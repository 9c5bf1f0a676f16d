import { expect, test } from 'vitest'
import type { Exchange } from '../../src/service/observe.ts'
import { connectTo } from '../helpers/emulated-client.ts'
import { startEmulatedService } from '../helpers/emulated-service.ts'
import { connectClient, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

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
  await connection.client.managers({ page: 1, pageSize: 20 }, openContext())
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
  await connection.client.managers({ page: 1, pageSize: 20 }, openContext())
  expect(seen.map(({ call }) => call.endpoint)).toEqual(['managers'])
  expect(Object.keys(seen[0]?.call ?? {})).not.toContain('bearer')
  expect(JSON.stringify(seen)).not.toContain(emulator.appSecret)
})
