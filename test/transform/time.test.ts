import { describe, expect, test } from 'vitest'
import { unreadable } from '../../src/core/column.ts'
import { calendarDate, pointInTime } from '../../src/transform/time.ts'

describe('pointInTime', () => {
  test.each([
    ['2018-03-15 15:33', '2018-03-15 15:33:00'],
    ['2017-04-26 13:07:25', '2017-04-26 13:07:25'],
    ['2026-01-02T15:04:05+08:00', '2026-01-02 15:04:05+08:00'],
    ['2026-01-02T15:04:05.123456+0800', '2026-01-02 15:04:05.123456+08:00'],
    ['2026-01-02T15:04:05Z', '2026-01-02 15:04:05+00:00'],
    ['2024-02-29 00:00', '2024-02-29 00:00:00'],
    ['0000-00-00 00:00:00', null],
    ['0000-00-00', null],
    ['', null],
    [null, null],
  ])('reads %j as %j', (raw, time) => {
    expect(pointInTime(raw)).toBe(time)
  })

  test.each([
    '2025-02-29 10:00',
    '2026-13-01 00:00',
    '2026-01-01 24:00:00',
    '2026-01-01',
    '01/02/2026 10:00',
    '0000-01-01 00:00',
    '2026-01-01 10:00 +08:00',
    '2026-01-01T10:00:00+16:00',
    1_700_000_000,
    true,
    {},
  ])('cannot read %j', (raw) => {
    expect(pointInTime(raw)).toBe(unreadable)
  })
})

describe('calendarDate', () => {
  test.each([
    ['2021-12-27', '2021-12-27'],
    ['2021-12-27 00:00:00', '2021-12-27'],
    ['', null],
    ['0000-00-00', null],
  ])('reads %j as %j', (raw, date) => {
    expect(calendarDate(raw)).toBe(date)
  })

  test.each(['2021-12-27 10:00:00', '2021-02-30', '20211227', 20_211_227])('cannot read %j', (raw) => {
    expect(calendarDate(raw)).toBe(unreadable)
  })
})
