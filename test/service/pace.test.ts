import { describe, expect, test } from 'vitest'
import { createPace, type Pace } from '../../src/service/pace.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLog as log } from '../../src/core/log.ts'
import { createMemoryPaceCell, type PaceCell } from '../../src/core/pace-cell.ts'
import { errorOf, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { mostWithin, refusal, simulateCalls } from '../helpers/simulate-calls.ts'

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

  test.each([
    ['30 ms away', () => 30, 0.9],
    ['held up now and then', (random: () => number) => (random() < 0.1 ? 300 : 1), 0.5],
  ])('holds, and is used, with a database that is %s', async (_, statementMs, used) => {
    const run = await simulateCalls({ service: 'bucket', seconds: 20, processes: 3, ceiling: 25, statementMs })
    expect(mostWithin(run.arrivals, 1000)).toBeLessThanOrEqual(25)
    expect(run.arrivals.length).toBeGreaterThan(20 * 25 * used)
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
  const cell = createMemoryPaceCell(clock)
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
    const going = [refused, other].flatMap((each) =>
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

  test('holds nothing back for more than a minute', async () => {
    const { clock, open, refuse } = setUp(100)
    const pace = open()
    await refuse(pace, 3_600_000)
    const next = go(pace)
    await clock.advance(75_000)
    await expect(next).resolves.toBeUndefined()
  })
})

test('a shared clock that is set back by an hour holds nobody back', async () => {
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
    return createPace({ maxCallsPerSecond: 5, clock, log, cell: shifted })
  }
  const taken = [0, 0]
  const goOn = async (process: 0 | 1, pace = open()) => {
    for (;;) {
      await go(pace)
      taken[process] = (taken[process] ?? 0) + 1
    }
  }
  void goOn(0)
  await clock.advance(1000)
  shiftMs = 0
  void goOn(1)
  await clock.advance(8000)
  expect(Math.min(...taken)).toBeGreaterThan(15)
})
