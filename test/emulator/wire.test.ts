import { expect, test } from 'vitest'
import { formatWallTime, parseWallTime } from '../../src/core/wall-clock.ts'
import { wireDuration, wireInteger, wireMinute, wireSecond } from '../../src/emulator/wire.ts'
import { createInstantReader } from '../../src/emulator/wire.ts'

test('every day of four centuries is written as the calendar has it', () => {
  const wrong: string[] = []
  for (let day = 0; day < 150_000; day += 1) {
    const time = day * 86_400 + ((day * 7919) % 86_400)
    if (wireSecond(time) !== formatWallTime(time)) wrong.push(formatWallTime(time))
  }
  expect(wrong).toEqual([])
})

test.each([
  [0, '00:00:00'],
  [59, '00:00:59'],
  [86_400, '24:00:00'],
  [450_189, '125:03:09'],
])('%i seconds are %s', (seconds, text) => {
  expect(wireDuration(seconds)).toBe(text)
})

test('watch records show minutes', () => {
  expect(wireMinute(59)).toBe('1970-01-01 00:00')
})

test('ids keep their digits', () => {
  expect(JSON.stringify(['1', '9007199254740991', '9007199254740993'].map(wireInteger))).toBe(
    '[1,9007199254740991,9007199254740993]',
  )
})

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
