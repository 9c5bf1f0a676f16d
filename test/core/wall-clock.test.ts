import { expect, test } from 'vitest'
import {
  formatWallDate,
  formatWallTime,
  isTimeZone,
  isWallTime,
  parseWallTime,
  wallTimeAt,
} from '../../src/core/wall-clock.ts'

test.each([
  ['2026-11-20', '2026-11-20 00:00:00'],
  ['2026-11-20 14:03', '2026-11-20 14:03:00'],
  ['2026-11-20T14:03:59', '2026-11-20 14:03:59'],
  ['2024-02-29 23:59:59', '2024-02-29 23:59:59'],
])('%s is a time, read as %s', (text, canonical) => {
  expect(isWallTime(text)).toBe(true)
  expect(formatWallTime(parseWallTime(text) ?? 0)).toBe(canonical)
})

test('the first day there is, which stands for none, is a time that is not read', () => {
  expect([isWallTime('0001-01-01'), parseWallTime('0001-01-01')]).toEqual([true, undefined])
})

test.each([
  '',
  ' ',
  '0000-00-00',
  '0000-01-01',
  '2026-13-01',
  '2026-02-30',
  '2025-02-29 10:00',
  '2026-11-20 14',
  '2026-11-20 24:00',
  '2026-11-20 10:60',
  '2026-11-20 14:03:60',
  '2026-1-2',
])('%j is no time', (text) => expect([isWallTime(text), parseWallTime(text)]).toEqual([false, undefined]))

test.each([
  ['2026-11-20T16:30:05Z', 'Asia/Shanghai', '2026-11-21 00:30:05'],
  // Not 24.
  ['2026-01-01T00:00:00Z', 'UTC', '2026-01-01 00:00:00'],
  ['2026-07-01T12:00:00Z', 'Europe/Berlin', '2026-07-01 14:00:00'],
  ['2026-01-01T12:00:00Z', 'Europe/Berlin', '2026-01-01 13:00:00'],
])('at %s the wall clock of %s shows %s', (instant, timeZone, shown) => {
  const time = wallTimeAt(Date.parse(instant), timeZone)
  expect([formatWallTime(time), formatWallDate(time)]).toEqual([shown, shown.slice(0, 10)])
})

test.each([
  ['Asia/Shanghai', true],
  ['UTC', true],
  ['Etc/GMT-8', true],
  ['Shanghai', false],
  // Node reads it as eight hours ahead, Postgres as eight hours behind.
  ['+08:00', false],
  ['-08', false],
  ['', false],
])('%j is a zone: %s', (name, isZone) => {
  expect(isTimeZone(name)).toBe(isZone)
})
