import { describe, expect, test } from 'vitest'
import { simulateCalls } from '../helpers/simulate-calls.ts'

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
