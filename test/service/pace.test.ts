import { describe, expect, test } from 'vitest'
import { createPace, type Pace } from '../../src/service/pace.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLog as log } from '../../src/core/log.ts'
import { createMemoryPaceCell, type PaceCell } from '../../src/core/pace-cell.ts'
import { errorOf, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { mostWithin, refusal, simulateCalls, type Simulation } from '../helpers/simulate-calls.ts'

const pace = createPace({ maxCallsPerSecond: 0, cell: createMemoryPaceCell(systemClock), clock: systemClock, log })
const callOf = (channelId: string) => ({ endpoint: 'visitorList', channelId })

/** A service whose answers the test releases one by one. */
function createGate() {
  const started: string[] = []
  const waiting: (() => void)[] = []
  const next = async ({ channelId }: ReturnType<typeof callOf>) => {
    started.push(channelId)
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  const release = async () => {
    waiting.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { next, started, release }
}

describe('concurrency', () => {
  test('no more calls at once than the ceiling', async () => {
    const { next, started, release } = createGate()
    const send = pace(next, { concurrency: 3 })
    const calls = Array.from({ length: 10 }, (_call, i) => send(callOf(String(i)), openContext()))
    await release()
    expect(started).toHaveLength(3)
    await release()
    expect(started).toHaveLength(4)
    for (let i = 0; i < 10; i += 1) await release()
    await Promise.all(calls)
  })

  test('a channel with one call is not behind the hundred of another', async () => {
    const { next, started, release } = createGate()
    const send = pace(next, { concurrency: 1 })
    const calls = [...Array.from({ length: 100 }, () => 'big'), 'small', 'other'].map((id) =>
      send(callOf(id), openContext()),
    )
    for (let i = 0; i < 103; i += 1) await release()
    await Promise.all(calls)
    expect(started.indexOf('small')).toBeLessThan(4)
    expect(started.indexOf('other')).toBeLessThan(5)
    expect(started).toHaveLength(102)
  })

  test('an endpoint with one call is not behind the hundred of another', async () => {
    const { next, started, release } = createGate()
    const send = pace(next, { concurrency: 1 })
    const calls = Array.from({ length: 100 }, (_call, i) => send(callOf(String(i)), openContext()))
    const other = send({ endpoint: 'managers', channelId: 'other' }, openContext())
    for (let i = 0; i < 110; i += 1) await release()
    await Promise.all([...calls, other])
    expect(started.indexOf('other')).toBeLessThan(5)
  })

  test('what calls need is asked for by all at once, and who waits for a place takes few instants from others', async () => {
    const { clock, open } = setUp(20)
    let asked = 0
    let left = 0
    const slow = open()(async () => await clock.sleep(1000), { concurrency: 8, prepare: async () => (asked += 1) })
    const quick = open()(async () => {
      left += 1
    })
    const start = (send: typeof slow) =>
      Array.from({ length: 200 }, () => send({ endpoint: 'visitorList' }, openContext()))
    const slowly = start(slow)
    expect(asked).toBe(200)
    const quickly = start(quick)
    await clock.advance(10_000)
    expect(left).toBeGreaterThan(115)
    await clock.advance(200_000)
    await Promise.all([...slowly, ...quickly])
  })

  test('a call that is given up while it waits never goes out and holds no place', async () => {
    const { next, started, release } = createGate()
    const send = pace(next, { concurrency: 1 })
    const controller = new AbortController()
    const first = send(callOf('a'), openContext())
    const given = errorOf(send(callOf('b'), { signal: controller.signal }))
    const last = send(callOf('c'), openContext())
    controller.abort(new Error('gave up'))
    expect(String(await given)).toBe('Error: gave up')
    await release()
    await release()
    await release()
    await Promise.all([first, last])
    expect(started).toEqual(['a', 'c'])
  })
})

describe('the ceiling', () => {
  test.each([
    [1, 1],
    [7, 1],
    [25, 1],
    [25, 10],
    [7, 10],
  ])('of %d calls a second holds in any second, over %d processes', async (ceiling, processes) => {
    const { arrivals, answeredBy } = await simulateCalls({ service: 'bucket', seconds: 20, processes, ceiling })
    expect(mostWithin(arrivals, 1000)).toBeLessThanOrEqual(ceiling)
    expect(arrivals.length).toBeGreaterThan(20 * ceiling * 0.9)
    // In turn.
    expect(Math.min(...answeredBy)).toBeGreaterThan(0.7 * Math.max(...answeredBy) - 2)
  })

  test.each<[string, number, Partial<Simulation>]>([
    ['whose database is 30 ms away', 0.9, { statementMs: () => 30 }],
    ['whose database is 30 ms away, of one caller each', 0.5, { statementMs: () => 30, callers: 1 }],
    ['whose database is held up now and then', 0.5, { statementMs: (random) => (random() < 0.1 ? 300 : 1) }],
    ['of one caller each', 0.7, { processes: 4, callers: 1, latencyMs: 150 }],
    ['whose database takes longer than a lease', 0.02, { statementMs: () => 400, callers: 1 }],
  ])('holds and is used by processes %s', async (_, used, simulation) => {
    const setting = { service: 'bucket', seconds: 20, processes: 2, ceiling: 25 } as const
    const { arrivals } = await simulateCalls({ ...setting, ...simulation })
    expect(mostWithin(arrivals, 1000)).toBeLessThanOrEqual(25)
    expect(arrivals.length).toBeGreaterThan(20 * 25 * used)
  })

  test.each([1, 2, 3])('holds where %d. what calls need and do not have is there for all at once', async (missing) => {
    const { clock, open } = setUp(20)
    const isThere = Promise.withResolvers<void>()
    const asked = new Map<string, number>()
    const prepare = async ({ endpoint }: { readonly endpoint: string }) => {
      asked.set(endpoint, (asked.get(endpoint) ?? 0) + 1)
      if (asked.get(endpoint) === missing) await isThere.promise
    }
    const left: number[] = []
    const send = open()(async () => void left.push(clock.now()), { prepare })
    const calls = Promise.all(Array.from({ length: 10 }, (_, index) => send({ endpoint: `${index}` }, openContext())))
    await clock.advance(5000)
    isThere.resolve()
    await clock.advance(5000)
    await calls
    expect(mostWithin(left, 100)).toBeLessThanOrEqual(2)
  })
})

const setUp = (maxCallsPerSecond: number) => {
  const clock = createFakeClock()
  const memory = createMemoryPaceCell(clock)
  const cell = {
    ...memory,
    exchanges: 0,
    exchange: async <T extends { readonly pace: unknown }>(change: (pace: unknown, nowMs: number) => T) => {
      cell.exchanges += 1
      // It is under way while others go on.
      for (let round = 0; round < 100; round += 1) await Promise.resolve()
      return await memory.exchange(change)
    },
  }
  const open = () => createPace({ maxCallsPerSecond, clock, log, cell })
  /** One that is refused. */
  const refuse = async (pace: Pace, retryAfterMs: number) =>
    await errorOf(
      pace(async () => await Promise.reject(refusal(retryAfterMs)))({ endpoint: 'visitorList' }, openContext()),
    )
  return { clock, cell, open, refuse }
}
/** One that is answered. */
const go = async (pace: Pace, endpoint = 'visitorList') => await pace(async () => {})({ endpoint }, openContext())

describe('a refusal', () => {
  test('with Retry-After holds every call of all processes back, to any endpoint, and then all goes on as before', async () => {
    const { clock, open, refuse } = setUp(0)
    const [refused, other] = [open(), open()]
    for (let call = 0; call < 20; call += 1) await go(other)
    await refuse(refused, 5000)
    const refusedAtMs = clock.now()
    // The other process hears of it when it looks, four times a second.
    await clock.advance(250)
    const went: number[] = []
    const going = [other, refused].flatMap((each) =>
      ['visitorList', 'managers'].map(async (endpoint) => {
        await go(each, endpoint)
        went.push(clock.now())
      }),
    )
    await clock.advance(4749)
    expect(went).toEqual([])
    await clock.advance(500)
    await Promise.all(going)
    expect(Math.min(...went)).toBeGreaterThanOrEqual(refusedAtMs + 5000)
    for (let call = 0; call < 100; call += 1) await go(refused)
    expect(clock.now()).toBe(refusedAtMs + 5499)
  })

  test('with Retry-After holds back what has its instant already', async () => {
    const { clock, cell, open, refuse } = setUp(20)
    const pace = open()
    let went = 0
    const calls = [refuse(pace, 5000), ...Array.from({ length: 4 }, () => go(pace).then(() => (went += 1)))]
    await clock.advance(4999)
    expect(went).toBe(0)
    await clock.advance(1000)
    await Promise.all(calls)
    expect(cell.exchanges).toBeLessThan(40)
  })

  test('holds nothing back for more than a minute', async () => {
    const { clock, open, refuse } = setUp(100)
    const pace = open()
    await refuse(pace, 3_600_000)
    const next = go(pace)
    await clock.advance(75_000)
    await expect(next).resolves.toBeUndefined()
  })
})

test.each([
  [5, 15],
  [2, 5],
])('a shared clock that is set back by an hour holds nobody back, ceiling %d', async (maxCallsPerSecond, least) => {
  let shiftMs = 3_600_000
  const { clock, cell } = setUp(0)
  const open = () => {
    let offsetMs = shiftMs
    const shifted: PaceCell = {
      now: () => clock.now() + offsetMs,
      exchange: async (change) => {
        offsetMs = shiftMs
        return await cell.exchange((kept, nowMs) => change(kept, nowMs + shiftMs))
      },
    }
    return createPace({ maxCallsPerSecond, clock, log, cell: shifted })
  }
  const taken = { first: 0, second: 0 }
  const start = (process: keyof typeof taken, pace = open()) =>
    Array.from({ length: 4 }, async () => {
      for (;;) await go(pace).then(() => (taken[process] += 1))
    })
  void start('first')
  await clock.advance(1000)
  shiftMs = 0
  void start('second')
  await clock.advance(8000)
  expect(Math.min(taken.first, taken.second)).toBeGreaterThan(least)
})
