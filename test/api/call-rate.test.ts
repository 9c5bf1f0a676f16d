import { describe, expect, test } from 'vitest'
import { simulateCalls } from '../helpers/simulate-calls.ts'

const kinds = ['bucket', 'fixed window', 'sliding window'] as const

describe.each(kinds)('a service with a hidden limit: %s', (service) => {
  describe.each([undefined, 1000])('Retry-After %s ms', (retryAfterMs) => {
    test.each([
      [10, 50, 1],
      [10, 50, 3],
      [40, 20, 1],
      [40, 20, 3],
      [40, 50, 1],
      [200, 20, 1],
      [200, 50, 3],
      [1000, 5, 3],
    ])(
      'of %d calls a second, %d ms away, %d processes: found in five seconds, used to nine tenths, two of a hundred refused',
      async (limit, latencyMs, processes) => {
        const simulation = { service, limit: () => limit, seconds: 25, processes, latencyMs }
        const run = await simulateCalls(retryAfterMs === undefined ? simulation : { ...simulation, retryAfterMs })
        expect(run.settledAfter()).toBeLessThanOrEqual(5)
        expect(run.used(5)).toBeGreaterThan(0.9)
        expect(run.refused(5)).toBeLessThan(0.02)
      },
    )
  })

  test.each([1, 3])('that falls and rises again, %d processes: it is followed', async (processes) => {
    const limit = (second: number) => (second < 15 || second >= 30 ? 100 : 40)
    const run = await simulateCalls({ service, limit, seconds: 50, processes, latencyMs: 20 })
    expect(run.settledAfter(15, 30)).toBeLessThanOrEqual(6)
    expect(run.used(20, 30)).toBeGreaterThan(0.9)
    expect(run.refused(20, 30)).toBeLessThan(0.025)
    // A service whose seconds are others than ours makes it look for longer.
    expect(run.settledAfter(30)).toBeLessThanOrEqual(service === 'fixed window' ? 17 : 8)
    expect(run.used(35)).toBeGreaterThan(0.9)
    expect(run.refused(35)).toBeLessThan(service === 'fixed window' ? 0.03 : 0.02)
  })

  test('that rises from 40 to 1,000 calls a second is found as at first', async () => {
    const limit = (second: number) => (second < 15 ? 40 : 1000)
    const run = await simulateCalls({ service, limit, seconds: 35, processes: 3, latencyMs: 20 })
    expect(run.used(20)).toBeGreaterThan(0.8)
    expect(run.refused(20)).toBeLessThan(0.03)
  })

  test('of three calls a second is found as well', async () => {
    const run = await simulateCalls({ service, limit: () => 3, seconds: 120, processes: 2 })
    expect(run.used(5)).toBeGreaterThan(0.75)
    expect(run.refused(5)).toBeLessThan(0.03)
  })
})

test('a bucket is not overrun again and again after the pauses that it orders, however much it saves up in them', async () => {
  const simulation = { service: 'bucket', limit: () => 200, seconds: 60, latencyMs: 20, retryAfterMs: 1000 } as const
  const { refused, used } = await simulateCalls(simulation)
  // A pause for each refusal, and as many are refused as were on their way.
  expect(refused(5)).toBeLessThan(0.003)
  expect(used(5)).toBeGreaterThan(0.95)
})
