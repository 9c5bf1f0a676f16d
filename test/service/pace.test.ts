import { expect, test } from 'vitest'
import { createMemoryPace, type UpdatePace } from '../../src/core/shared-calls.ts'
import { createPace, type Pace } from '../../src/service/pace.ts'
import { errorOf, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { mostWithin, refusal, type Simulation, simulateCalls } from '../helpers/simulate-calls.ts'

test('a call that is aborted while it waits never leaves and delays no other call', async () => {
  const { clock, open } = setUp(1)
  const pace = open()
  await sendCall(pace)
  const aborting = new AbortController()
  const sent: string[] = []
  const send = pace.ceiling(async ({ endpoint }: { readonly endpoint: string }) => void sent.push(endpoint))
  const failed = errorOf(send({ endpoint: 'visitorList' }, { signal: aborting.signal }))
  const next = send({ endpoint: 'managers' }, openContext())
  aborting.abort(new Error('gave up'))
  expect(String(await failed)).toBe('Error: gave up')
  await clock.advance(2000)
  await next
  expect(sent).toEqual(['managers'])
})

test('after a stall of the process, an aborted call uses up no instant of the calls behind it', async () => {
  const { clock, update } = setUp(0)
  const slow = { ...clock, now: clock.now, sleep: async (ms: number) => await clock.sleep(ms + 20) }
  const pace = createPace(update, 100, slow)
  const aborting = new AbortController()
  const departures: number[] = []
  const { signal } = openContext()
  const calls = [signal, signal, aborting.signal, signal].map((signal) =>
    pace
      .ceiling(async () => void departures.push(clock.now()))({ endpoint: 'managers' }, { signal })
      .catch(() => {}),
  )
  aborting.abort()
  await clock.advance(1000)
  await Promise.all(calls)
  expect(departures).toEqual([departures[0], departures[1], departures[1]])
})

test.each([
  [1, 1],
  [25, 1],
  [25, 10],
  [7, 10],
])('the ceiling of %d calls a second holds in any second, over %d processes', async (ceiling, processes) => {
  const { arrivals, answeredBy } = await simulateCalls({ service: 'bucket', seconds: 20, processes, ceiling })
  expect(mostWithin(arrivals, 1000)).toBeLessThanOrEqual(ceiling)
  expect(arrivals.length).toBeGreaterThan(20 * ceiling * 0.9)
  expect(Math.min(...answeredBy)).toBeGreaterThan(0.7 * Math.max(...answeredBy) - 2)
})

test.each<[string, number, Partial<Simulation>]>([
  ['whose database is 30 ms away', 0.9, { statementMs: () => 30 }],
  ['whose database is 30 ms away, of one caller each', 0.5, { statementMs: () => 30, callers: 1 }],
  ['whose database is held up now and then', 0.5, { statementMs: (random) => (random() < 0.1 ? 300 : 1) }],
  ['of one caller each', 0.7, { processes: 4, callers: 1, latencyMs: 150 }],
  ['whose database takes longer than a lease', 0.02, { statementMs: () => 400, callers: 1 }],
  ['whose database crashes now and then', 0.6, { processes: 4, lostEachMs: 1900 }],
])('the ceiling holds and is used by processes %s', async (_, used, simulation) => {
  const setting = { service: 'bucket', seconds: 20, processes: 2, ceiling: 25 } as const
  const { arrivals } = await simulateCalls({ ...setting, ...simulation })
  expect(mostWithin(arrivals, 1000)).toBeLessThanOrEqual(25)
  expect(arrivals.length).toBeGreaterThan(20 * 25 * used)
})

/** @param database how long an exchange takes after its change has been computed */
const setUp = (maxCallsPerSecond: number, database = { tookMs: 0 }) => {
  const clock = createFakeClock()
  const memory = createMemoryPace(clock)
  const count = { exchanges: 0 }
  const update: UpdatePace = async (change) => {
    count.exchanges += 1
    // Lets other work run while the exchange is in flight.
    for (let round = 0; round < 100; round += 1) await Promise.resolve()
    const changed = await memory(change)
    if (database.tookMs > 0) await clock.sleep(database.tookMs)
    return changed
  }
  const open = () => createPace(update, maxCallsPerSecond, clock)
  return { clock, update, count, open }
}
const sendThrough = async (pace: Pace, endpoint: string, send: () => Promise<void>) =>
  await pace.endpointRate(pace.ceiling(send))({ endpoint }, openContext())
const sendCall = async (pace: Pace, endpoint = 'visitorList') => await sendThrough(pace, endpoint, async () => {})
const refuse = async (pace: Pace, retryAfterMs: number) =>
  await errorOf(sendThrough(pace, 'visitorList', async () => await Promise.reject(refusal(retryAfterMs))))

test('a Retry-After holds back all calls of all processes to any endpoint, then the old rate continues', async () => {
  const { clock, open } = setUp(0)
  const [refused, other] = [open(), open()]
  for (let call = 0; call < 20; call += 1) await sendCall(other)
  await refuse(refused, 5000)
  const refusedAtMs = clock.now()
  // The other process notices at its next exchange, which comes once a second without refusals.
  await clock.advance(1000)
  const sentAtMs: number[] = []
  const calls = [other, refused].flatMap((each) =>
    ['visitorList', 'managers'].map(async (endpoint) => {
      await sendCall(each, endpoint)
      sentAtMs.push(clock.now())
    }),
  )
  await clock.advance(3999)
  expect(sentAtMs).toEqual([])
  await clock.advance(500)
  await Promise.all(calls)
  expect(Math.min(...sentAtMs)).toBeGreaterThanOrEqual(refusedAtMs + 5000)
  for (let call = 0; call < 100; call += 1) await sendCall(refused)
  expect(clock.now()).toBe(refusedAtMs + 5499)
})

test('a refusal makes processes share the pace four times a second instead of once', async () => {
  const { clock, count, open } = setUp(0)
  const pace = open()
  const calls = async () => {
    const before = count.exchanges
    for (let call = 0; call < 40; call += 1) {
      await sendCall(pace)
      await clock.advance(50)
    }
    return count.exchanges - before
  }
  expect(await calls()).toBeLessThanOrEqual(4)
  await refuse(pace, 0)
  expect(await calls()).toBeGreaterThanOrEqual(7)
})

test('a Retry-After also holds back calls that already have their instant', async () => {
  const { clock, count, open } = setUp(20)
  const pace = open()
  let sent = 0
  const calls = [refuse(pace, 5000), ...Array.from({ length: 4 }, () => sendCall(pace).then(() => (sent += 1)))]
  await clock.advance(4999)
  expect(sent).toBe(0)
  await clock.advance(1000)
  await Promise.all(calls)
  expect(count.exchanges).toBeLessThan(40)
})

test('errors other than refusals do not change the rate', async () => {
  const { clock, open } = setUp(0)
  const pace = open()
  for (let call = 0; call < 40; call += 1) {
    void errorOf(sendThrough(pace, 'visitorList', async () => await Promise.reject(new Error('502'))))
    await clock.advance(100)
  }
  let sent = 0
  for (let call = 0; call < 100; call += 1) void sendCall(pace).then(() => (sent += 1))
  await clock.advance(1)
  expect(sent).toBe(100)
})

test('a Retry-After that comes during an exchange reaches other processes at once', async () => {
  const { clock, open } = setUp(0, { tookMs: 50 })
  const [refused, other] = [open(), open()]
  const answer = Promise.withResolvers<void>()
  void errorOf(sendThrough(refused, 'visitorList', async () => await answer.promise))
  await clock.advance(300)
  void sendCall(refused)
  await clock.advance(20)
  answer.reject(refusal(5000))
  await clock.advance(250)
  let hasLeft = false
  void sendCall(other).then(() => (hasLeft = true))
  await clock.advance(4700)
  expect(hasLeft).toBe(false)
  await clock.advance(300)
  expect(hasLeft).toBe(true)
})

test('a database that stalls for a minute does not make one process wait for another', async () => {
  const database = { tookMs: 1 }
  const { clock, open } = setUp(20, database)
  const [pace, other] = [open(), open()]
  let sent = 0
  const call = (each: Pace) => {
    const send = each.ceiling(async () => void (sent += 1))
    void send({ endpoint: 'visitorList' }, openContext())
  }
  call(pace)
  await clock.advance(1000)
  database.tookMs = 60_000
  call(pace)
  await clock.advance(500)
  database.tookMs = 1
  await clock.advance(60_000)
  call(other)
  await clock.advance(1000)
  expect(sent).toBe(3)
})

test.each([
  [-3_600_000, 20, 3],
  [-3_600_000, 2, 8],
  [400, 20, 10],
  [3_600_000, 20, 10],
  [3_600_000, 2, 8],
  [3_600_000, 100, 3],
])('a shared clock set by %d ms lets no more calls leave than %d, %d processes', async (byMs, ceiling, processes) => {
  let shiftMs = 0
  const { clock, update } = setUp(0)
  const shifted: UpdatePace = async (change) => await update((state, nowMs) => change(state, nowMs + shiftMs))
  const departures: number[] = []
  const departuresBy = Array.from({ length: processes }, () => 0)
  const keepCalling = async (process: number, pace: Pace) => {
    for (;;) {
      await sendCall(pace)
      departures.push(clock.now())
      departuresBy[process] = (departuresBy[process] ?? 0) + 1
    }
  }
  for (const process of departuresBy.keys()) {
    const pace = createPace(shifted, ceiling, clock)
    for (let caller = 0; caller < 4; caller += 1) void keepCalling(process, pace)
  }
  for (let change = 0; change < 4; change += 1) {
    await clock.advance(3040)
    shiftMs += byMs
  }
  expect(mostWithin(departures, 1000)).toBeLessThanOrEqual(ceiling)
  expect(departures.length).toBeGreaterThan(5 * ceiling)
  expect(Math.min(...departuresBy)).toBeGreaterThan(0.4 * Math.max(...departuresBy) - 2)
})
