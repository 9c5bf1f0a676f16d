import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  formatWallDate,
  formatWallTime,
  isTimeZone,
  isWallTime,
  offsetAt,
  parseWallTime,
  wallTimeAt,
} from '../../src/core/wall-clock.ts'
import { checkProperty } from '../helpers/check-property.ts'

describe('parseWallTime', () => {
  test.each([
    ['2026-11-20', '2026-11-20 00:00:00'],
    ['2026-11-20 14:03', '2026-11-20 14:03:00'],
    ['2026-11-20T14:03:59', '2026-11-20 14:03:59'],
    ['2024-02-29 23:59:59', '2024-02-29 23:59:59'],
  ])('reads %s', (text, canonical) => {
    const time = parseWallTime(text)
    expect(time).toBeDefined()
    expect(formatWallTime(time ?? 0)).toBe(canonical)
  })

  test.each(['', '2026-02-30', '2025-02-29 10:00', '2026-11-20 24:00', '2026-11-20 10:60', '2026-1-2', '0000-00-00'])(
    'refuses %j',
    (text) => {
      expect(parseWallTime(text)).toBeUndefined()
    },
  )
})

/** What `isWallTime` takes, as a pattern and a calendar. */
function isWallTimeByPattern(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(text)
  if (!parts) return false
  const [, year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map(Number)
  const date = new Date(Date.UTC(2000, month - 1, day))
  date.setUTCFullYear(year, month - 1, day)
  const isDate = year >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return (
    isDate &&
    (parts[4] === undefined || hour < 24) &&
    (parts[5] === undefined || minute < 60) &&
    (parts[6] === undefined || second < 60)
  )
}

describe('isWallTime', () => {
  const number = fc.nat({ max: 99 }).map((value) => String(value).padStart(2, '0'))
  const likely = fc
    .tuple(fc.constantFrom('2026', '2024', '0000', '0001', '1900'), number, number, number, number, number)
    .map(([year, month, day, hour, minute, second]) => `${year}-${month}-${day} ${hour}:${minute}:${second}`)
  const cut = fc.tuple(likely, fc.constantFrom(10, 13, 16, 19)).map(([text, length]) => text.slice(0, length))
  const damaged = fc
    .tuple(cut, fc.nat(19), fc.constantFrom('T', ' ', ':', '-', '/', 'x', '９', '\n'))
    .map(([text, place, unit]) => text.slice(0, place) + unit + text.slice(place + 1))

  test('takes exactly what the pattern takes', () => {
    const law = fc.property(fc.oneof(cut, damaged, fc.string()), (text) => {
      expect(isWallTime(text)).toBe(isWallTimeByPattern(text))
    })
    checkProperty('wall times', law, { runs: 3000 })
  })

  test.each(['2026-11-20', '2026-11-20 14:03', '2026-11-20T14:03:59', '0001-01-01'])('takes %s', (text) => {
    expect(isWallTime(text)).toBe(true)
  })
})

describe('wallTimeAt', () => {
  const instant = Date.UTC(2026, 10, 20, 16, 30, 5)

  test('the wall clock of Shanghai is eight hours ahead, on the next day', () => {
    expect(formatWallTime(wallTimeAt(instant, 'Asia/Shanghai'))).toBe('2026-11-21 00:30:05')
    expect(formatWallDate(wallTimeAt(instant, 'Asia/Shanghai'))).toBe('2026-11-21')
  })

  test('midnight reads 00, not 24', () => {
    expect(formatWallTime(wallTimeAt(Date.UTC(2026, 0, 1), 'UTC'))).toBe('2026-01-01 00:00:00')
  })

  test('daylight saving is followed', () => {
    expect(formatWallTime(wallTimeAt(Date.UTC(2026, 6, 1, 12), 'Europe/Berlin'))).toBe('2026-07-01 14:00:00')
    expect(formatWallTime(wallTimeAt(Date.UTC(2026, 0, 1, 12), 'Europe/Berlin'))).toBe('2026-01-01 13:00:00')
  })
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

test.each([
  ['Asia/Shanghai', '+08:00'],
  ['America/St_Johns', '-03:30'],
  ['UTC', '+00:00'],
])('%s is at %s in November', (name, offset) => {
  expect(offsetAt(Date.UTC(2026, 10, 20, 6, 30, 0, 900), name)).toBe(offset)
})
