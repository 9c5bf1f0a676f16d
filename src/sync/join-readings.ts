import { isDeepStrictEqual } from 'node:util'
import type { Page } from '../core/page.ts'
import type { Stream } from '../core/stream.ts'
import { itemText } from './page-reading.ts'

/** Readings of one list without ids, each at a page size of its own. */
export interface Readings {
  /**
   * Adds one that ended where the list does and saw no change.
   * @returns the pages of the list; undefined where this and the earlier ones do not show what is in it
   */
  readonly add: (pages: readonly Page[]) => readonly Page[] | undefined
}

/**
 * Equal items on two pages are real, or one came twice and another not at all: the list has moved between two pages, or
 * it is sorted by what is not unique, and equal rows stand anew on each page. So a reading with such items shows what
 * the list has only where the one before it, at another page size, held the same items, or where the readings together
 * hold as many different ones as each brought: an item counts as often as one page held it at most.
 */
export function createReadings(stream: Stream): Readings {
  const textOf = (item: unknown) => itemText(stream, item)
  let before: readonly string[] = []
  let sizeBefore = 0
  let known: Items = new Map()

  return {
    add: (pages) => {
      const own = collect(pages, new Map(), textOf)
      const all = pages.flatMap(({ items }) => items.map(textOf)).sort()
      known = all.length === before.length ? collect(pages, known, textOf) : own
      const joined = itemsOf(known)
      const size = Math.max(...pages.map(({ items }) => items.length))
      const isSame = size !== sizeBefore && isDeepStrictEqual(all, before)
      before = all
      sizeBefore = size
      const [first] = pages
      if (first === undefined || isSame || itemsOf(own).length === all.length) return pages
      return joined.length === all.length ? [{ ...first, items: joined }] : undefined
    },
  }
}

/** By its text, each item and how many times one page held it at most. */
type Items = ReadonlyMap<string, { readonly item: unknown; readonly count: number }>

function collect(pages: readonly Page[], before: Items, textOf: (item: unknown) => string): Items {
  const known = new Map(before)
  for (const { items } of pages) {
    for (const [text, [item, ...equal]] of Map.groupBy(items, textOf)) {
      const count = Math.max(1 + equal.length, known.get(text)?.count ?? 0)
      known.set(text, { item, count })
    }
  }
  return known
}

function itemsOf(known: Items): readonly unknown[] {
  return [...known.values()].flatMap(({ item, count }) => Array.from({ length: count }, () => item))
}
