import { expect, test } from 'vitest'
import { type CallPace, nothingKnown, parseCallPace } from '../../src/api/call-pace.ts'
import { callRate } from '../../src/api/call-rate.ts'
import { learnPace, type PaceReport } from '../../src/api/learn-pace.ts'

const START = Date.UTC(2026, 10, 20, 6)

/** So many calls taken in the second before, and a refusal of one that left just now. */
function reportOf({ nowMs = START + 1000, admitted = 0, refused = 1 }): PaceReport {
  const admissions = Array.from({ length: admitted }, (_call, index) => ({
    atMs: nowMs - 1000 + (1000 * (index + 0.5)) / admitted,
    count: 1,
  }))
  const refusals = Array.from({ length: refused }, () => ({ leftAtMs: nowMs - 50, retryAfterMs: undefined }))
  return { nowMs, admissions, refusals }
}

/** Uses that share of the rate for so long, in steps of a tenth of a second. */
function use(pace: CallPace, fromMs: number, forMs: number, share = 1): CallPace {
  if (forMs <= 0) return pace
  const nowMs = fromMs + 100
  const admissions = [{ atMs: fromMs + 50, count: (callRate(pace, 0) / 10) * share }]
  return use(learnPace(pace, { nowMs, admissions, refusals: [] }, 0), nowMs, forMs - 100, share)
}

const slowed = learnPace(nothingKnown(START), reportOf({ admitted: 100 }), 0)

test('nothing limits before the first refusal but the ceiling, and that with a margin', () => {
  expect(callRate(nothingKnown(START), 0)).toBe(Number.POSITIVE_INFINITY)
  expect(callRate(nothingKnown(START), 25)).toBeCloseTo(25 / 1.05)
})

test('a refusal brings the rate a little below what was admitted lately', () => {
  expect(callRate(slowed, 0)).toBeCloseTo(95)
})

test('the rate comes back to what was admitted, passes it gently, and then faster and faster', () => {
  const settled = learnPace(slowed, reportOf({ nowMs: START + 3000, admitted: 100 }), 0)
  const rates = [0, 1000, 1600, 3000, 5000].map((ms) => callRate(use(settled, START + 3000, ms), 0))
  expect(rates).toEqual(rates.toSorted((a, b) => a - b))
  expect(rates[1]).toBeLessThan(100)
  expect(rates[2]).toBeLessThan(103)
  expect(rates[3]).toBeGreaterThan(103)
  expect(rates[4]).toBeGreaterThan(150)
})

test('a rate of which only half is used does not rise: that proves nothing', () => {
  const settled = learnPace(slowed, reportOf({ nowMs: START + 3000, admitted: 100 }), 0)
  const idle = learnPace(settled, reportOf({ nowMs: START + 600_000, admitted: 1, refused: 0 }), 0)
  expect(callRate(use(idle, START + 600_000, 10_000, 0.5), 0)).toBeCloseTo(95)
})

test('a refusal of a call that left before the fall could show is none of the new rate', () => {
  const nowMs = START + 1500
  const { limit } = learnPace(slowed, reportOf({ nowMs, admitted: 20 }), 0)
  expect(limit?.foundAtMs).toBe(START + 1000)
})

test('what others saw before the first refusal and tell later counts', () => {
  const theirs = reportOf({ nowMs: START + 1000, admitted: 60, refused: 0 })
  expect(callRate(learnPace(slowed, { ...theirs, nowMs: START + 1200 }, 0), 0)).toBeCloseTo(0.95 * 160)
})

test('where everything is refused, single calls find out when that ends, further and further apart', () => {
  const times = [2500, 3500, 5000, 8000]
  const blind = times.reduce<CallPace>((pace, ms) => learnPace(pace, reportOf({ nowMs: START + ms }), 0), {
    ...slowed,
    admissions: [],
  })
  expect(callRate(blind, 0)).toBeCloseTo(1000 / 2400)
  const over = learnPace(
    blind,
    { nowMs: START + 11_000, admissions: [{ atMs: START + 11_000, count: 1 }], refusals: [] },
    0,
  )
  expect(callRate(over, 0)).toBeGreaterThan(50)
})

test('what is kept is read back as it was, and what another version kept counts as nothing', () => {
  expect(parseCallPace(JSON.parse(JSON.stringify(slowed)))).toEqual(slowed)
  expect(parseCallPace({ rate: 5 })).toBeUndefined()
  expect(parseCallPace(undefined)).toBeUndefined()
})
