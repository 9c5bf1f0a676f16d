import { expect, test } from 'vitest'
import { type CallPace, nothingKnown } from '../../src/api/call-pace.ts'
import { tellFloor, tellLimit } from '../../src/api/tell-limit.ts'

const START = Date.UTC(2026, 10, 20, 6)
const limit = { peak: 300, foundAtMs: START, usedMs: 0, isOpen: true, floor: 0, apartMs: 0, lagMs: 0 }

/** After a refusal and its pause, as many calls taken in each second. */
function paceOf(pauseMs: number, ...seconds: readonly number[]): CallPace {
  const admissions = seconds.flatMap((calls, second) =>
    Array.from({ length: 10 }, (_, tenth) => ({
      atMs: START + pauseMs + second * 1000 + tenth * 100,
      count: calls / 10,
    })),
  )
  return { ...nothingKnown(START), limit: { ...limit, pauseMs }, admissions }
}

const told = (pace: CallPace, nowMs: number) => tellLimit(pace, 300, true, nowMs)

test('what was admitted in the last second tells the limit', () => {
  expect(tellLimit(paceOf(0, 100, 100, 100), 300, false, START + 2999)).toEqual({ peak: 100, isOpen: true })
})

test('a service that took as many for seconds after a pause had saved them up in it: the pause counts', () => {
  const { peak, isOpen } = told(paceOf(1000, 266, 266, 266), START + 3999)
  // 800 calls in four seconds; the rate is not to fall below that.
  expect(peak * 0.95).toBeCloseTo(200, -1)
  expect(isOpen).toBe(false)
})

test('of a long pause only a second counts: more is seldom saved up', () => {
  expect(told(paceOf(30_000, 266, 266, 266), START + 32_999).peak * 0.95).toBeCloseTo(200, -1)
})

test('where the rate rose, or calls went out for long, the last second tells', () => {
  expect(told(paceOf(1000, 100, 200, 266), START + 3999)).toEqual({ peak: 266, isOpen: true })
  expect(told(paceOf(1000, 210, 210, 210, 210, 210, 210, 210), START + 7999)).toEqual({ peak: 210, isOpen: true })
})

test('what was taken in one second after a pause is trusted by a quarter less', () => {
  const { peak } = told(paceOf(1000, 200, 20), START + 2200)
  expect(peak).toBeLessThan(200)
  expect(peak).toBeGreaterThan(160)
})

test('the floor is what is left of the first calls if a second of them had been saved up', () => {
  const pace = { ...paceOf(0, 1200, 0), limit: undefined }
  expect(tellFloor(pace, START + 199)).toBeCloseTo(300, -2)
})
