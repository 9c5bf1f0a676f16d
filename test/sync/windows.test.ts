import { expect, test } from 'vitest'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { liesWithin } from '../../src/sync/windows.ts'

const ZONE = 'Asia/Shanghai'
const wall = (text: string) => parseWallTime(text) ?? 0
const window = { from: wall('2026-11-20 10:00'), to: wall('2026-11-20 11:00') }

test.each([
  ['2026-11-20 09:59:59', false],
  ['2026-11-20 10:00:00', true],
  ['2026-11-20 11:00:00', false],
  ['2026-11-20 08:29:59.5+05:30', true],
  ['2026-11-19 18:00:00-09:00', false],
  ['soon', false],
  [null, false],
])('a row belongs to a half-open window by its minute on the clock of the service: %s: %s', (time, isInside) => {
  expect(liesWithin({ at: time }, ['at'], window, ZONE)).toBe(isInside)
})
