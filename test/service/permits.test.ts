import { describe, expect, test } from 'vitest'
import { createPermits, type Permits } from '../../src/service/permits.ts'
import { createMemoryPaceCell, type PaceCell } from '../../src/core/pace-cell.ts'
import { openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { mostWithin, simulateCalls } from '../helpers/simulate-calls.ts'

describe('the ceiling', () => {
  test.each([
    [1, 1],
    [7, 1],
    [25, 1],
    [25, 10],
    [7, 10],
  ])('of %d calls a second holds in any second, over %d processes', async (ceiling, processes) => {
    const { arrivals } = await simulateCalls({ service: 'bucket', seconds: 20, processes, ceiling })
    expect(mostWithin(arrivals, 1000)).toBeLessThanOrEqual(ceiling)
    expect(arrivals.length).toBeGreaterThan(20 * ceiling * 0.9)
  })
})

const setUp = (cell?: PaceCell, maxCallsPerSecond = 100) => {
  const clock = createFakeClock()
  const options = { maxCallsPerSecond, clock, log: createRecordingLog().log }
  const shared = cell ?? createMemoryPaceCell(clock)
  const permits = createPermits({ ...options, cell: shared })
  return { clock, permits, cell: shared, open: () => createPermits({ ...options, cell: shared }), ...openContext() }
}

describe('a refusal', () => {
  test('with Retry-After holds every call of all processes back, to any endpoint, and then all goes on as before', async () => {
    const { clock, permits, open, signal } = setUp(undefined, 0)
    const other = open()
    for (let call = 0; call < 20; call += 1) (await other.take({ endpoint: 'visitorList' }, signal)).answered()
    const permit = await permits.take({ endpoint: 'visitorList' }, signal)
    const refusedAtMs = clock.now()
    permit.refused(5000)
    // The other process hears of it when it looks, four times a second.
    await clock.advance(250)
    const went: number[] = []
    const go = async ({ take }: Permits, endpoint: 'visitorList' | 'managers') => {
      ;(await take({ endpoint }, signal)).answered()
      went.push(clock.now())
    }
    const going = [permits, other].flatMap((each) => [go(each, 'visitorList'), go(each, 'managers')])
    await clock.advance(4749)
    expect(went).toEqual([])
    await clock.advance(500)
    await Promise.all(going)
    expect(Math.min(...went)).toBeGreaterThanOrEqual(refusedAtMs + 5000)
    for (let call = 0; call < 100; call += 1) await go(permits, 'visitorList')
    expect(clock.now()).toBe(refusedAtMs + 5499)
  })

  test('holds nothing back for more than a minute', async () => {
    const { clock, permits, signal } = setUp()
    const permit = await permits.take({ endpoint: 'visitorList' }, signal)
    permit.refused(3_600_000)
    const next = permits.take({ endpoint: 'visitorList' }, signal)
    await clock.advance(75_000)
    await expect(next).resolves.toBeDefined()
  })
})

test('a shared clock that is set back by an hour holds nobody back', async () => {
  let shiftMs = 3_600_000
  const { clock, cell, signal } = setUp()
  const open = () => {
    let offsetMs = shiftMs
    const shifted: PaceCell = {
      now: () => clock.now() + offsetMs,
      exchange: async (change) => {
        offsetMs = shiftMs
        return await cell.exchange((kept, nowMs) => change(kept, nowMs + shiftMs))
      },
    }
    return createPermits({ maxCallsPerSecond: 5, clock, log: createRecordingLog().log, cell: shifted })
  }
  const taken = [0, 0]
  const go = async (process: 0 | 1, { take } = open()) => {
    for (;;) {
      await take({ endpoint: 'visitorList' }, signal)
      taken[process] = (taken[process] ?? 0) + 1
    }
  }
  void go(0)
  await clock.advance(1000)
  shiftMs = 0
  void go(1)
  await clock.advance(8000)
  expect(Math.min(...taken)).toBeGreaterThan(15)
})
