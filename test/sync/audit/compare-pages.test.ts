import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { choosePages } from '../../../src/sync/audit/compare-pages.ts'
import { checkProperty } from '../../helpers/check-property.ts'

test('so many different pages are chosen, in order, and by the same seed the same', () => {
  const asked = [fc.nat(5000), fc.nat(60), fc.integer({ min: 1, max: 1_000_000 })] as const
  const law = fc.property(...asked, (total, count, seed) => {
    const pages = choosePages(total, count, seed)
    expect(pages).toHaveLength(Math.min(total, count))
    expect(new Set(pages).size).toBe(pages.length)
    expect(pages).toEqual(pages.toSorted((a, b) => a - b))
    for (const page of pages) expect(page >= 0 && page < total).toBe(true)
    expect(choosePages(total, count, seed)).toEqual(pages)
  })
  checkProperty('choose pages', law)
})

test('every page is chosen now and then, and another seed chooses others', () => {
  const chosen = Array.from({ length: 200 }, (_, seed) => choosePages(20, 3, seed + 1))
  expect(new Set(chosen.flat()).size).toBe(20)
  expect(new Set(chosen.map((pages) => pages.join())).size).toBeGreaterThan(100)
})
