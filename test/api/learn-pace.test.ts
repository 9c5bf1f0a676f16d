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

const slowed = learnPace(nothingKnown(START + 500), reportOf({ admitted: 100 }), 0)
const settled = learnPace(slowed, reportOf({ nowMs: START + 6000, admitted: 100 }), 0)

test('nothing limits before the first refusal but the ceiling, and that with a margin', () => {
  expect(callRate(nothingKnown(START), 0)).toBe(Number.POSITIVE_INFINITY)
  expect(callRate(nothingKnown(START), 25)).toBeCloseTo(25 / 1.05)
})

test('a refusal brings the rate a little below what was admitted lately', () => {
  expect(callRate(settled, 0)).toBeCloseTo(95)
})

test('after the first refusal the rate is what is left if calls had been saved up, then it climbs to what was admitted', () => {
  const burst = { nowMs: START + 200, admissions: [{ atMs: START + 100, count: 120 }], refusals: reportOf({}).refusals }
  const first = learnPace(nothingKnown(START), burst, 0)
  const rates = [0, 900, 1500, 2100].map((ms) => callRate(use(first, START + 400, ms), 0))
  // 120 in a tenth of a second, and a second's calls before: no less than 109 a second.
  expect(rates[0]).toBeCloseTo((0.95 * 120) / 1.1)
  expect(rates[1]).toBeCloseTo((0.95 * 120) / 1.1)
  expect(rates[2]).toBeLessThan(0.95 * 120)
  expect(rates[3]).toBeGreaterThanOrEqual(0.95 * 120)
})

test('the rate comes back to what was admitted, passes it gently, and then faster and faster', () => {
  const rates = [0, 1000, 1600, 3000, 5000].map((ms) => callRate(use(settled, START + 6200, ms), 0))
  expect(rates).toEqual(rates.toSorted((a, b) => a - b))
  expect(rates[1]).toBeLessThan(100)
  expect(rates[2]).toBeLessThan(103)
  expect(rates[3]).toBeGreaterThan(103)
  expect(rates[4]).toBeGreaterThan(150)
})

test('a rate of which only half is used does not rise: that proves nothing', () => {
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
  expect(learnPace(slowed, { ...theirs, nowMs: START + 1200 }, 0).limit?.peak).toBeGreaterThan(140)
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

test('where a refusal costs a pause, the rate stays below what was admitted until long after it', () => {
  const { nowMs, admissions } = reportOf({ nowMs: START + 12_000, admitted: 100 })
  const refusals = [{ leftAtMs: nowMs - 50, retryAfterMs: 1000 }]
  const paused = learnPace(settled, { nowMs, admissions, refusals }, 0)
  expect(callRate(use(paused, nowMs + 1200, 14_000), 0)).toBeCloseTo(98.5, 0)
  expect(callRate(use(paused, nowMs + 1200, 18_000), 0)).toBeGreaterThan(101)
})

test('a service that takes a second of calls at once is not taken for one that takes none', () => {
  const admissions = [{ atMs: START + 6300, count: 40 }]
  const busy = learnPace(settled, { nowMs: START + 6400, admissions, refusals: [] }, 0)
  const refusals = [{ leftAtMs: START + 7350, retryAfterMs: undefined }]
  expect(learnPace(busy, { nowMs: START + 7400, admissions: [], refusals }, 0).limit).toMatchObject({ peak: 40 })
})

test('a rate of twice the limit that was found forgets it', () => {
  expect(use(settled, START + 6200, 5000).limit).toBeUndefined()
})

test('what is kept is read back as it was, and what another version kept counts as nothing', () => {
  expect(parseCallPace(JSON.parse(JSON.stringify(slowed)))).toEqual(slowed)
  expect(parseCallPace({ rate: 5 })).toBeUndefined()
  expect(parseCallPace(undefined)).toBeUndefined()
})
