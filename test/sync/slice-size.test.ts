import { describe, expect, test } from 'vitest'
import { sliceSize } from '../../src/sync/slice-size.ts'
import { gifts } from '../../src/streams/gifts.ts'
import { signups } from '../../src/streams/signups.ts'
import { watchRecords } from '../../src/streams/watch-records.ts'

describe('rows that are written as they come', () => {
  test.each([
    [61, 2],
    [250, 5],
    [600, 5],
    [1000, 7],
    [3600, 24],
    [3700, 2],
    [100_000, 24],
  ])('of %d pages are cut into %d parts', (pages, parts) => {
    expect(sliceSize(watchRecords, 100, 50).partsOf(pages)).toBe(parts)
  })

  test.each([
    [undefined, 60],
    [35, 60],
    [214, 214],
  ])('of which no more than %s pages were expected are read as they are up to %d', (expected, enough) => {
    expect(sliceSize(watchRecords, 100, 50, expected).enough).toBe(enough)
  })

  test('in pages of one are cut as if three of them were one', () => {
    expect(sliceSize(watchRecords, 1, 50)).toMatchObject({ enough: 180, most: Infinity })
  })
})

describe('rows that are held until their slice is proven', () => {
  test.each([
    [gifts, 100, 5000],
    [signups, 50, 10_000],
    [gifts, 10, 1000],
  ])('are never many (case %#): in pages of %d about %d', (stream, size, rows) => {
    const { enough, most, longest, partsOf } = sliceSize(stream, size, 50)
    expect(enough * size).toBeLessThanOrEqual(rows * 1.2)
    expect(most * size).toBeLessThanOrEqual(rows * 1.5)
    const pages = Math.ceil((rows * 20) / size)
    expect((pages / partsOf(pages)) * size).toBeLessThanOrEqual(rows * 1.1)
    expect(pages / partsOf(pages)).toBeLessThanOrEqual(longest)
  })

  test('are cut again where a part is too long, whatever was expected', () => {
    expect(sliceSize(gifts, 100, 50, 200).enough).toBe(60)
  })
})

test('no list is cut into more parts than it has pages', () => {
  expect(sliceSize(watchRecords, 2, 0.25).partsOf(2)).toBe(2)
})

test('a list that one cut would make too many parts of is cut into parts that are cut again', () => {
  const { partsOf, longest } = sliceSize(gifts, 100, 50)
  const parts = partsOf(30_000)
  expect(parts).toBeLessThanOrEqual(24)
  expect(30_000 / parts).toBeGreaterThan(longest)
})
