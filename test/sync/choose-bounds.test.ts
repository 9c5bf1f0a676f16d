import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY, MINUTE, parseWallTime, type WallTime } from '../../src/core/wall-clock.ts'
import { chooseBounds, type PageTimes } from '../../src/sync/choose-bounds.ts'
import { checkProperty } from '../helpers/check-property.ts'

const start = parseWallTime('2026-11-20 20:00') ?? 0
const minute = (count: number) => start + count * MINUTE
const window = { from: minute(0), to: minute(1000) }

/** A row a minute, ten a page. */
const pageAt = (number: number): PageTimes => {
  return { number, times: Array.from({ length: 10 }, (_, index) => minute((number - 1) * 10 + index)) }
}
const ascending = [1, 26, 51, 76].map(pageAt)
const targets = [26, 51, 76]

describe('bounds', () => {
  test('of a list in order lie on the pages where parts should begin, either way', () => {
    for (const pages of [
      ascending,
      ascending.map(({ times }, index) => ({ number: 26 * index || 1, times })).reverse(),
    ]) {
      const numbered = pages.map(({ times }, index) => ({ number: [1, ...targets][index] ?? 0, times }))
      const bounds = chooseBounds(window, numbered, targets)
      expect(bounds).toHaveLength(3)
      for (const bound of bounds) expect(numbered.some(({ times }) => times.includes(bound))).toBe(true)
    }
  })

  test('of a list in no order are shares of all rows that were looked at', () => {
    const pages = [1, 26, 51, 76].map((number, index) => {
      return { number, times: Array.from({ length: 25 }, (_, place) => minute(1 + place * 4 + index)) }
    })
    expect(chooseBounds(window, pages, targets)).toEqual([26, 51, 76].map(minute))
  })

  test('are those of the pages that were served', () => {
    const pages = ascending.filter(({ number }) => number !== 51)
    expect(chooseBounds(window, pages, targets)).toHaveLength(2)
  })

  test.each<[string, readonly number[], number]>([
    ['in its longest pause', [0, 1, 2, 10, 11, 12], 6],
    ['in its longest pause, whatever the order of its rows', [12, 2, 11, 0, 10, 1], 6],
    ['within it, not at its ends where rows of other pages are not seen', [0, 8, 9, 10], 4],
  ])('lie on a page %s', (_where, minutes, at) => {
    const pages = [pageAt(101), { number: 26, times: minutes.map(minute) }]
    expect(chooseBounds(window, pages, [26])).toEqual([minute(at)])
  })

  test('lie at the time of day at which the fewest rows come about, where pages show no pause', () => {
    const days = { from: start - 20 * DAY, to: start + 20 * DAY }
    const evening = (number: number, day: number) => {
      return { number, times: Array.from({ length: 60 }, (_, second) => start + day * DAY + second) }
    }
    const pages = [evening(1, -9), evening(26, 0), evening(51, 5)]
    expect(chooseBounds(days, pages, [26])).toEqual([start + DAY / 2])
    // Within one evening there is no such time: then it is the minute of the page.
    const busy = [evening(1, 0), evening(26, 0.01), evening(51, 0.02)]
    expect(chooseBounds(days, busy, [26])).toEqual([minute(14)])
  })

  test('keep two minutes apart from one that holds more than a part', () => {
    const crowd = (number: number) => ({ number, times: Array.from({ length: 10 }, () => minute(500)) })
    const pages = [pageAt(1), crowd(26), crowd(51), pageAt(76)]
    expect(chooseBounds(window, pages, targets)).toEqual([498, 502, 752].map(minute))
    const [before, within, behind] = [minute(500), minute(501), minute(502)]
    const inside = (from: WallTime, to: WallTime) => chooseBounds({ from, to }, [crowd(1), crowd(26)], [26])
    expect(inside(window.from, before)).toEqual([minute(498)])
    expect(inside(within, window.to)).toEqual([behind])
    expect(inside(minute(498), before)).toEqual([])
  })

  test('are none where no row has a time', () => {
    expect(chooseBounds(window, [{ number: 1, times: [] }], targets)).toEqual([])
  })

  test('are whole minutes inside the window, each once, whatever was seen', () => {
    const seconds: fc.Arbitrary<WallTime> = fc.integer({ min: start - 300, max: minute(1000) + 300 })
    const times = fc.oneof(
      fc.array(seconds, { maxLength: 20 }),
      seconds.map((time) => Array.from({ length: 12 }, () => time)),
    )
    const pages = fc
      .array(times, { maxLength: 8 })
      .map((all) => all.map((each, index) => ({ number: index * 9 + 1, times: each })))
    checkProperty(
      'choose bounds',
      fc.property(pages, (some) => {
        const all = some.slice(1).map(({ number }) => number)
        const bounds = chooseBounds(window, some, all)
        expect(bounds).toEqual([...new Set(bounds)].sort((a, b) => a - b))
        for (const bound of bounds) {
          expect(bound % MINUTE).toBe(0)
          expect(bound > window.from && bound < window.to).toBe(true)
        }
      }),
    )
  })
})
