import { expect, test } from 'vitest'
import { type CallPace, nothingKnown } from '../../src/api/call-pace.ts'
import { trustPace } from '../../src/api/trust-pace.ts'

const nowMs = Date.UTC(2026, 10, 20, 6)
const HOUR_MS = 3_600_000
const options = { nowMs, aheadMs: 2500, ceiling: 4 }
const limit = { peak: 10, foundAtMs: nowMs, usedMs: 0, pauseMs: 0, isOpen: false, floor: 0, apartMs: 0, lagMs: 0 }
const kept: CallPace = {
  ...nothingKnown(nowMs - 1000),
  nextAtMs: nowMs + 2700,
  pausedUntilMs: nowMs + 60_000,
  limit,
  admissions: [{ atMs: nowMs, count: 1 }],
}

test('what can have been written stays as it is', () => {
  expect(trustPace(kept, options)).toBe(kept)
})

test('what was written at another hour is brought down to what can have been granted', () => {
  const trusted = trustPace(
    {
      sinceMs: nowMs + HOUR_MS,
      nextAtMs: nowMs + HOUR_MS,
      pausedUntilMs: nowMs + HOUR_MS,
      limit: { ...limit, foundAtMs: nowMs + HOUR_MS },
      admissions: [{ atMs: nowMs + HOUR_MS, count: 1 }],
    },
    options,
  )
  expect(trusted).toMatchObject({ sinceMs: nowMs, pausedUntilMs: nowMs + 60_000, admissions: [], limit })
  expect(trusted.nextAtMs).toBeGreaterThan(nowMs + 2750)
  expect(trusted.nextAtMs).toBeLessThan(nowMs + 2820)
})
