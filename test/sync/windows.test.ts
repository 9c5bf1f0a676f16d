import { expect, test } from 'vitest'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { liesWithin } from '../../src/sync/windows.ts'

const from = parseWallTime('2026-11-20 10:00') ?? 0
const isWithin = (at: string | null) => liesWithin({ at }, ['at'], { from, to: from + 3600 }, 'Asia/Shanghai')

test("a row belongs to a window by its minute in the service's zone, and to none without a time", () => {
  expect([isWithin('2026-11-20 08:29:59.5+05:30'), isWithin(null)]).toEqual([true, false])
})
