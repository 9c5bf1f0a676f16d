import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MINUTE, parseWallTime, type WallTime } from '../../src/core/wall-clock.ts'
import { chooseBounds, isQuieterNear, type PageTimes, quietestBound } from '../../src/pipeline/choose-bounds.ts'
import { checkProperty } from '../helpers/check-property.ts'

const start = parseWallTime('2026-11-20 20:00') ?? 0
const minute = (count: number) => start + count * MINUTE
const window = { from: minute(0), to: minute(1000) }
const question = { window, reach: 1, mostTwice: Infinity }

/** A row a minute, ten a page. */
const pageAt = (number: number): PageTimes => {
  return { number, times: Array.from({ length: 10 }, (_, index) => minute((number - 1) * 10 + index)) }
}
const ascending = [1, 26, 51, 76].map(pageAt)
const targets = [26, 51, 76]

describe('the quietest minute of a page', () => {
  test.each<[string, readonly number[], number, number]>([
    ['lies in its longest pause', [0, 1, 2, 10, 11, 12], 6, 0],
    ['is found whatever the order of its rows', [12, 2, 11, 0, 10, 1], 6, 0],
    ['is that of its only row', [7], 7, 1],
  ])('%s', (_what, minutes, at, twice) => {
    expect(quietestBound(minutes.map(minute))).toEqual({ at: minute(at), twice })
  })

  test('rows of one second are as many as the page, and those around it that are not seen', () => {
    const { at, twice } = quietestBound(Array.from({ length: 100 }, () => minute(3) + 20))
    expect(at).toBe(minute(3))
    expect(twice).toBeGreaterThanOrEqual(200)
  })
})

describe('bounds', () => {
  test('of a list in order lie on the pages where parts should begin, either way', () => {
    for (const pages of [
      ascending,
      ascending.map(({ times }, index) => ({ number: 26 * index || 1, times })).reverse(),
    ]) {
      const numbered = pages.map(({ times }, index) => ({ number: [1, ...targets][index] ?? 0, times }))
      const bounds = chooseBounds({ ...question, pages: numbered, targets })
      expect(bounds).toHaveLength(3)
      for (const bound of bounds) expect(numbered.some(({ times }) => times.includes(bound))).toBe(true)
    }
  })

  test('of a list in no order are shares of all rows that were looked at', () => {
    const pages = [1, 26, 51, 76].map((number, index) => {
      return { number, times: Array.from({ length: 25 }, (_, place) => minute(1 + place * 4 + index)) }
    })
    expect(chooseBounds({ ...question, pages, targets })).toEqual([26, 51, 76].map(minute))
  })

  test('are as close to their targets as pages were served', () => {
    const pages = ascending.filter(({ number }) => number !== 51)
    expect(chooseBounds({ ...question, pages, targets })).toHaveLength(2)
  })

  test('lie aside of a target where it is quieter there', () => {
    const busy = { number: 26, times: Array.from({ length: 10 }, (_, index) => minute(255) + index) }
    const quiet = { number: 27, times: [256, 270, 271].map(minute) }
    const pages = [pageAt(1), busy, quiet, pageAt(51)]
    expect(chooseBounds({ ...question, pages, targets: [26] })).toEqual([minute(263)])
  })

  test('lie halfway between two pages of which neither is quiet, where a pause lies between', () => {
    const busy = (number: number, count: number) => {
      return { number, times: Array.from({ length: 10 }, (_, index) => minute(count) + index) }
    }
    const pages = [pageAt(1), busy(26, 255), busy(27, 655), pageAt(76)]
    expect(chooseBounds({ ...question, pages, targets: [26] })).toEqual([minute(455)])
    expect(isQuieterNear(busy(26, 255), [busy(27, 655)], 1)).toBe(true)
    expect(isQuieterNear(busy(26, 255), [busy(27, 257)], 1)).toBe(false)
    expect(isQuieterNear(busy(26, 255), [busy(28, 655)], 1)).toBe(false)
  })

  test('at which too much would be read twice are none', () => {
    const busy = { number: 26, times: Array.from({ length: 10 }, (_, index) => minute(255) + index) }
    expect(chooseBounds({ ...question, mostTwice: 20, pages: [pageAt(1), busy], targets: [26] })).toEqual([])
  })

  test('keep two minutes apart from one that holds more than a part', () => {
    const crowd = (number: number) => ({ number, times: Array.from({ length: 10 }, () => minute(500)) })
    const pages = [pageAt(1), crowd(26), crowd(51), pageAt(76)]
    expect(chooseBounds({ ...question, pages, targets })).toEqual([498, 502, 751].map(minute))
    const [before, within, behind] = [minute(500), minute(501), minute(502)]
    const inside = { ...question, pages: [crowd(1), crowd(26)], targets: [26] }
    expect(chooseBounds({ ...inside, window: { from: window.from, to: before } })).toEqual([minute(498)])
    expect(chooseBounds({ ...inside, window: { from: within, to: window.to } })).toEqual([behind])
    expect(chooseBounds({ ...inside, window: { from: minute(498), to: before } })).toEqual([])
  })

  test('are none where no row has a time', () => {
    expect(chooseBounds({ ...question, pages: [{ number: 1, times: [] }], targets })).toEqual([])
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
      fc.property(pages, fc.boolean(), (some, isBounded) => {
        const all = some.slice(1).map(({ number }) => number)
        const bounds = chooseBounds({ ...question, mostTwice: isBounded ? 9 : Infinity, pages: some, targets: all })
        expect(bounds).toEqual([...new Set(bounds)].sort((a, b) => a - b))
        for (const bound of bounds) {
          expect(bound % MINUTE).toBe(0)
          expect(bound > window.from && bound < window.to).toBe(true)
        }
      }),
    )
  })
})
