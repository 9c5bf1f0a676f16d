import { describe, expect, test } from 'vitest'
import type { Row } from '../../src/core/column.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { isInWindow, minuteOf, requireFiltered } from '../../src/sync/row-window.ts'
import { gifts } from '../../src/streams/gifts.ts'
import { watchRecords } from '../../src/streams/watch-records.ts'

const ZONE = 'Asia/Shanghai'
const wall = (text: string) => parseWallTime(text) ?? 0
const window = { from: wall('2026-11-20 10:00'), to: wall('2026-11-20 11:00') }

describe('a row belongs to a half-open window by its minute', () => {
  test.each([
    ['2026-11-20 09:59:59', false],
    ['2026-11-20 10:00:00', true],
    ['2026-11-20 10:59:59', true],
    ['2026-11-20 10:59:59.999999', true],
    ['2026-11-20 11:00:00', false],
    ['2026-11-20 11:00:59', false],
  ])('%s: %s', (time, isInside) => {
    expect(isInWindow(time, window, ZONE)).toBe(isInside)
  })

  test.each([
    ['2026-11-20 03:00:00+00:00', false],
    ['2026-11-20 02:00:00+00:00', true],
    ['2026-11-20 10:00:00+08:00', true],
    ['2026-11-20 07:29:59.5+05:30', false],
    ['2026-11-20 08:29:59.5+05:30', true],
    ['2026-11-19 17:30:00-09:00', true],
  ])('a time with an offset is read on the clock of the service: %s: %s', (time, isInside) => {
    expect(isInWindow(time, window, ZONE)).toBe(isInside)
  })

  test.each([null, undefined, '', 'soon', 5])('a row whose time is %j belongs to no window', (time) => {
    expect(isInWindow(time, window, ZONE)).toBe(false)
  })

  test('every row belongs to exactly one of two windows that meet', () => {
    const next = { from: window.to, to: window.to + 3600 }
    for (let second = window.to - 120; second < window.to + 120; second++) {
      const time = new Date(second * 1000).toISOString().slice(0, 19).replace('T', ' ')
      expect(
        [window, next].filter((one) => isInWindow(time, one, ZONE)),
        time,
      ).toHaveLength(1)
    }
  })

  test('daylight saving moves the clock of the zone, not the times that have no offset', () => {
    expect(minuteOf('2026-07-01 10:00:00+00:00', 'Europe/Berlin')).toBe(wall('2026-07-01 12:00'))
    expect(minuteOf('2026-12-01 10:00:00+00:00', 'Europe/Berlin')).toBe(wall('2026-12-01 11:00'))
    expect(minuteOf('2026-03-29 02:30:00', 'Europe/Berlin')).toBe(wall('2026-03-29 02:30'))
  })
})

describe('a filter that the service ignores', () => {
  const asked = { from: window.from - 60, to: window.to + 60 }
  const given = (...times: readonly (string | null)[]): Row[] => times.map((given_at) => ({ given_at }))
  const check = (rows: readonly Row[]) => () => requireFiltered('giftRunning channel 9', gifts, rows, asked, ZONE)
  const inside = '2026-11-20 10:30:00'
  const outside = '2026-11-19 10:30:00'

  test('is told when most rows lie outside what was asked, with one that shows it', () => {
    expect(check(given(outside, outside, inside))).toThrow(/ignores the time filter: 2 of 3 rows .* such as one of/)
    expect(check(given(outside))).toThrow(/LIVEHOUSE_TIMEZONE/)
  })

  test.each([
    ['half of them', given(outside, inside)],
    ['none of them', given(inside, inside)],
    ['rows at the very ends, which may belong to it', given('2026-11-20 09:59:00', '2026-11-20 11:01:00')],
    ['rows without a readable time', given(null, null)],
    ['no rows at all', []],
  ])('is not told for %s', (_which, rows) => {
    expect(check(rows)).not.toThrow()
  })

  test('a minute before and after the ends is outside', () => {
    expect(check(given('2026-11-20 09:57:59'))).toThrow('ignores the time filter')
    expect(check(given('2026-11-20 11:02:00'))).toThrow('ignores the time filter')
  })

  test('a visit that began before and ended in the window, or goes on after it, was asked for', () => {
    const visits = (entered_at: string | null, left_at: string | null) => () => {
      requireFiltered('userRecordList channel 9', watchRecords, [{ entered_at, left_at }], asked, ZONE)
    }
    expect(visits('2026-11-19 10:00:00', inside)).not.toThrow()
    expect(visits(inside, '2026-11-21 10:00:00')).not.toThrow()
    expect(visits('2026-11-19 10:00:00', '2026-11-21 10:00:00')).not.toThrow()
    expect(visits(null, inside)).not.toThrow()
    expect(visits('2026-11-18 10:00:00', outside)).toThrow('ignores the time filter')
  })
})
