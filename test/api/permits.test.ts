import { describe, expect, test } from 'vitest'
import { createMemoryPaceCell, type PaceCell } from '../../src/api/pace-cell.ts'
import { createPermits } from '../../src/api/permits.ts'
import { silentLog } from '../../src/core/log.ts'
import { errorOf, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { mostWithin, simulateCalls } from '../helpers/simulate-calls.ts'

describe('the ceiling', () => {
  test.each([
    [1, 1],
    [7, 1],
    [25, 1],
    [25, 10],
    [7, 10],
  ])('of %d calls a second holds in any second, over %d processes', async (ceiling, processes) => {
    const { arrivals } = await simulateCalls({ service: 'bucket', limit: () => 1e6, seconds: 20, processes, ceiling })
    expect(mostWithin(arrivals, 1000)).toBeLessThanOrEqual(ceiling)
    expect(arrivals.length).toBeGreaterThan(20 * ceiling * 0.9)
  })

  test('below one call a second holds too', async () => {
    const simulation = { service: 'bucket', limit: () => 1e6, seconds: 30, processes: 3, ceiling: 0.5 } as const
    const { arrivals } = await simulateCalls(simulation)
    expect(mostWithin(arrivals, 2000)).toBe(1)
    expect(arrivals.length).toBeGreaterThanOrEqual(13)
  })

  test.each([
    [25, 10, 16, 0.8],
    [1, 10, 16, 0.1],
    [40, 3, 2, 0.5],
  ])(
    'of %d calls a second is shared by %d processes of %d callers, with few exchanges',
    async (ceiling, processes, callers, share) => {
      const service = { service: 'bucket', limit: () => 1e6 } as const
      const { admittedBy, exchanges } = await simulateCalls({ ...service, seconds: 60, processes, callers, ceiling })
      expect(Math.min(...admittedBy) / Math.max(...admittedBy)).toBeGreaterThan(share)
      expect(exchanges).toBeLessThan(80)
    },
  )

  test('above the limit of the service changes nothing', async () => {
    const run = await simulateCalls({ service: 'bucket', limit: () => 10, seconds: 60, processes: 2, ceiling: 20 })
    expect(run.used(5)).toBeGreaterThan(0.94)
    expect(run.refused(5)).toBeLessThan(0.02)
  })
})

test.each([1, 4])('without any limit only concurrency and latency count, %d processes', async (processes) => {
  const simulation = { service: 'bucket', limit: () => 1e6, seconds: 10, latencyMs: 45 } as const
  const { arrivals, exchanges } = await simulateCalls({ ...simulation, processes })
  // 45 ms and twice 2.5 of jitter on average.
  expect(arrivals.length / (processes * 16 * (10_000 / 50))).toBeGreaterThan(0.97)
  expect(exchanges).toBeLessThan(processes * 5)
})

const setUp = (cell?: PaceCell, maxCallsPerSecond = 100) => {
  const clock = createFakeClock()
  const options = { maxCallsPerSecond, clock, log: silentLog, random: () => 0.5 }
  const shared = cell ?? createMemoryPaceCell(clock)
  const permits = createPermits({ ...options, cell: shared })
  return { clock, permits, cell: shared, open: () => createPermits({ ...options, cell: shared }), ...openContext() }
}

describe('a refusal', () => {
  test('with Retry-After holds every call of all processes back', async () => {
    const { clock, permits, open, signal } = setUp(undefined, 0)
    const other = open()
    for (let call = 0; call < 20; call += 1) (await other.take(signal)).admitted()
    const permit = await permits.take(signal)
    permit.refused(5000)
    // It hears of it when it looks, four times a second.
    await clock.advance(250)
    await other.take(signal)
    await clock.advance(0)
    const went: number[] = []
    const going = [permits, other].map(async ({ take }) => {
      await take(signal)
      went.push(clock.now())
    })
    const before = clock.now()
    await clock.advance(4700)
    expect(went).toEqual([])
    await clock.advance(1000)
    await Promise.all(going)
    expect(Math.min(...went)).toBeGreaterThanOrEqual(before + 4750)
  })

  test('holds nothing back for more than a minute', async () => {
    const { clock, permits, signal } = setUp()
    const permit = await permits.take(signal)
    permit.refused(3_600_000)
    const next = permits.take(signal)
    await clock.advance(75_000)
    await expect(next).resolves.toBeDefined()
  })

  test('of one process slows the others, which have seen none', async () => {
    const { clock, permits, open, signal } = setUp(undefined, 0)
    const other = open()
    for (let call = 0; call < 20; call += 1) (await permits.take(signal)).admitted()
    await other.take(signal)
    const refused = await permits.take(signal)
    refused.refused(undefined)
    await clock.advance(300)
    let went = 0
    const controller = new AbortController()
    const go = async (): Promise<never> => {
      for (;;) {
        await other.take(controller.signal)
        went += 1
      }
    }
    const going = errorOf(go())
    await clock.advance(1000)
    controller.abort()
    await going
    expect(went).toBeGreaterThan(15)
    expect(went).toBeLessThan(35)
  })
})

test('what has to be prepared is waited for in its turn, and only an urgent call passes by', async () => {
  const { permits, signal } = setUp(undefined, 0)
  const order: string[] = []
  const begun = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<void>()
  const prepare = async () => {
    order.push('first prepares')
    begun.resolve()
    await ready.promise
  }
  const preparation = { prepare, isReady: () => true }
  const first = permits.take(signal, { preparation }).then(() => order.push('first'))
  const second = permits.take(signal).then(() => order.push('second'))
  await begun.promise
  await permits.take(signal, { isUrgent: true }).then(() => order.push('urgent'))
  ready.resolve()
  await Promise.all([first, second])
  expect(order).toEqual(['first prepares', 'urgent', 'first', 'second'])
})

test('what did not last until the call could leave is prepared again, once, before it takes an instant', async () => {
  const { clock, permits, signal } = setUp(undefined, 10)
  await permits.take(signal)
  let prepared = 0
  const preparation = { prepare: async () => void (prepared += 1), isReady: () => false }
  const taken = permits.take(signal, { preparation })
  await clock.advance(1000)
  await taken
  expect(prepared).toBe(2)
})

test('what cannot be prepared fails its call, and not the next', async () => {
  const { permits, signal } = setUp()
  const preparation = { prepare: () => Promise.reject(new Error('no token')), isReady: () => true }
  const failing = errorOf(permits.take(signal, { preparation }))
  const next = permits.take(signal)
  expect(String(await failing)).toBe('Error: no token')
  await expect(next).resolves.toBeDefined()
})

test('a caller that gives up in the queue does not stop those behind it', async () => {
  const { clock, permits, signal } = setUp()
  ;(await permits.take(signal)).refused(1000)
  const controller = new AbortController()
  const gone = errorOf(permits.take(controller.signal))
  const stays = permits.take(signal)
  await clock.advance(10)
  controller.abort(new Error('gave up'))
  expect(String(await gone)).toBe('Error: gave up')
  await clock.advance(2000)
  await expect(stays).resolves.toBeDefined()
})

test('a call that comes too late to its instant takes another: else too many could arrive within a second', async () => {
  const clock = createFakeClock()
  let sleeps = 0
  // Timers of a machine that is busy now and then.
  const lateMs = () => ((sleeps += 1) % 4 === 0 ? 400 : 0)
  const late = { ...clock, sleep: async (ms: number, signal?: AbortSignal) => await clock.sleep(ms + lateMs(), signal) }
  const cell = createMemoryPaceCell(clock)
  const options = { maxCallsPerSecond: 20, cell, log: silentLog, random: () => 0.5 }
  const signal = openContext().signal
  const arrivals: number[] = []
  const call = async ({ take }: ReturnType<typeof createPermits>) => {
    for (;;) {
      await take(signal)
      arrivals.push(clock.now())
    }
  }
  void call(createPermits({ ...options, clock: late }))
  void call(createPermits({ ...options, clock }))
  await clock.advance(20_000)
  expect(mostWithin(arrivals, 1000)).toBeLessThanOrEqual(20)
  expect(arrivals.length).toBeGreaterThan(200)
})

test('a process with a clock that is an hour ahead does not stop the others, and their ceiling holds', async () => {
  const { clock, open, signal, cell } = setUp(undefined, 5)
  const ahead: PaceCell = {
    now: () => clock.now() + 3_600_000,
    exchange: async (change) => await cell.exchange((kept, nowMs) => change(kept, nowMs + 3_600_000)),
  }
  const options = { maxCallsPerSecond: 5, clock, log: silentLog, random: () => 0.5 }
  await createPermits({ ...options, cell: ahead }).take(signal)
  const went: number[] = [clock.now()]
  const { take } = open()
  const go = async (): Promise<never> => {
    for (;;) {
      await take(signal)
      went.push(clock.now())
    }
  }
  void go()
  await clock.advance(6000)
  expect(went.length).toBeGreaterThan(10)
  expect(mostWithin(went, 1000)).toBeLessThanOrEqual(5)
})

test('a clock that was ahead leaves nothing behind in its own process: what was granted at that hour is given up', async () => {
  let shiftMs = 3_600_000
  const { clock, cell, signal } = setUp(undefined, 5)
  const shifted: PaceCell = {
    now: () => clock.now() + shiftMs,
    exchange: async (change) => await cell.exchange((kept, nowMs) => change(kept, nowMs + shiftMs)),
  }
  const permits = createPermits({ maxCallsPerSecond: 5, clock, log: silentLog, random: () => 0.5, cell: shifted })
  let taken = 0
  for (let call = 0; call < 3; call += 1) void permits.take(signal).then(() => void (taken += 1))
  await clock.advance(0)
  shiftMs = 0
  await clock.advance(8000)
  expect(taken).toBe(3)
})

test('where the shared pace is out of reach the call fails, at once and without asking again', async () => {
  let asked = 0
  const cell: PaceCell = {
    now: () => 0,
    exchange: () => {
      asked += 1
      return Promise.reject(new Error('no connection'))
    },
  }
  const { permits, signal } = setUp(cell)
  for (const _call of [1, 2]) await expect(permits.take(signal)).rejects.toThrow('no connection')
  expect(asked).toBe(2)
})
