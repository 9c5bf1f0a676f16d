import { expect, test } from 'vitest'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { liesWithin } from '../../src/sync/windows.ts'

const ZONE = 'Asia/Shanghai'
const wall = (text: string) => parseWallTime(text) ?? 0
const window = { from: wall('2026-11-20 10:00'), to: wall('2026-11-20 11:00') }

test('a row belongs to a window by its minute on the clock of the service, and to none without a time', () => {
  expect(liesWithin({ at: '2026-11-20 08:29:59.5+05:30' }, ['at'], window, ZONE)).toBe(true)
  expect(liesWithin({ at: null }, ['at'], window, ZONE)).toBe(false)
})
