import { describe, expect, test } from 'vitest'
import { createMemoryPaceCell, type PaceCell } from '../../src/api/pace-cell.ts'
import { createPermits } from '../../src/api/permits.ts'
import { silentLog } from '../../src/core/log.ts'
import { errorOf, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { mostWithin, simulateCalls } from '../helpers/simulate-calls.ts'

const kinds = ['bucket', 'fixed window', 'sliding window'] as const

describe.each(kinds)('a service with a hidden limit: %s', (service) => {
  test.each([
    [40, 1],
    [40, 4],
    [200, 1],
    [200, 4],
  ])(
    'of %d calls a second, %d processes: nine tenths of it are used, two of a hundred calls refused',
    async (limit, processes) => {
      const run = await simulateCalls({ service, limit: () => limit, seconds: 40, processes })
      // One that counts by windows answers late.
      const settledAt = service === 'bucket' ? 5 : 15
      expect(run.used(settledAt)).toBeGreaterThan(0.9)
      expect(run.refused(settledAt)).toBeLessThan(0.02)
    },
  )

  test.each([1, 4])(
    'with Retry-After, %d processes: each refusal holds all back, so they are rare',
    async (processes) => {
      const run = await simulateCalls({ service, limit: () => 40, seconds: 60, processes, retryAfterMs: 1000 })
      expect(run.used(5)).toBeGreaterThan(service === 'bucket' ? 0.94 : 0.85)
      expect(run.refused(5)).toBeLessThan(0.015)
    },
  )

  test.each([1, 4])('that falls and rises again, %d processes: it is followed', async (processes) => {
    const limit = (second: number) => (second < 20 || second >= 40 ? 200 : 40)
    const run = await simulateCalls({ service, limit, seconds: 60, processes })
    expect(run.used(26, 40)).toBeGreaterThan(0.85)
    expect(run.refused(28, 40)).toBeLessThan(service === 'bucket' ? 0.03 : 0.08)
    expect(run.used(50)).toBeGreaterThan(0.9)
    expect(run.refused(52)).toBeLessThan(0.03)
  })

  test('of three calls a second is found as well', async () => {
    const run = await simulateCalls({ service, limit: () => 3, seconds: 120, processes: 2 })
    expect(run.used(5)).toBeGreaterThan(0.75)
    expect(run.refused(5)).toBeLessThan(0.03)
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

  test('is shared fairly, with few exchanges', async () => {
    const simulation = { service: 'bucket', limit: () => 1e6, seconds: 60, processes: 10, ceiling: 20 } as const
    const { admittedBy, exchanges } = await simulateCalls(simulation)
    expect(Math.min(...admittedBy)).toBeGreaterThan(Math.max(...admittedBy) / 2)
    expect(exchanges).toBeLessThan(80)
  })

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
  // Timers of a machine that is busy.
  const late = { ...clock, sleep: async (ms: number, signal?: AbortSignal) => await clock.sleep(ms + 40, signal) }
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
    exchange: async () => {
      asked += 1
      throw new Error('no connection')
    },
  }
  const { permits, signal } = setUp(cell)
  await expect(permits.take(signal)).rejects.toThrow('no connection')
  await expect(permits.take(signal)).rejects.toThrow('no connection')
  expect(asked).toBe(2)
})
