import { expect, test } from 'vitest'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { createInstantReader } from '../../src/emulator/zone.ts'

test.each([
  ['Asia/Shanghai', '2026-11-20 14:30', '2026-11-20T06:30:00.000Z'],
  ['UTC', '2026-11-20 14:30', '2026-11-20T14:30:00.000Z'],
  ['America/New_York', '2026-07-01 12:00', '2026-07-01T16:00:00.000Z'],
  ['America/New_York', '2026-03-08 01:59', '2026-03-08T06:59:00.000Z'],
  ['America/New_York', '2026-03-08 02:30', '2026-03-08T07:30:00.000Z'],
  ['America/New_York', '2026-03-08 03:00', '2026-03-08T07:00:00.000Z'],
  ['America/New_York', '2026-11-01 00:59', '2026-11-01T04:59:00.000Z'],
  ['America/New_York', '2026-11-01 01:30', '2026-11-01T06:30:00.000Z'],
  ['America/New_York', '2026-11-01 02:00', '2026-11-01T07:00:00.000Z'],
])('in %s the wall clock shows %s at %s', (zone, wall, instant) => {
  const toInstant = createInstantReader(zone)
  expect(new Date(toInstant(parseWallTime(wall) ?? 0) * 1000).toISOString()).toBe(instant)
})
