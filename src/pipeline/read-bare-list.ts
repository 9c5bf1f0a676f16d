import { isSameJson } from '../core/is-same-json.ts'
import { jsonText } from '../core/json-text.ts'
import type { Page } from '../core/page.ts'
import { fetchNumbered, fetchPastEnd, type PageReading, pageIgnored } from './page-reading.ts'

/** What reading a list into memory brought. */
export interface ListReading {
  readonly pages: readonly Page[]
  /** Why the list is to be read again; undefined for a clean reading. */
  readonly doubt: string | undefined
}

/** Whether a list of so many pages is more than may be held. */
export type IsTooLong = (pages: number, pageSize: number) => boolean

/**
 * Reads every page of a bare array (API 4.12), which tells no total. One short page is proven by an empty page 2. Several
 * pages end at a page shorter than the others, all before it full; then the first and the last page are read again, and
 * where equal items lie on two pages (a row that a late record has shifted looks like a twin) those pages too. Any
 * difference is a doubt.
 *
 * @returns undefined where the list is too long
 * @throws LivehouseError `paging.ignored` when a full page 2 is page 1 again, `api.…` of a call.
 */
export async function readBareList(
  reading: PageReading,
  onPage: (page: Page) => void,
  isTooLong: IsTooLong = () => false,
): Promise<ListReading | undefined> {
  const pages: Page[] = []
  let next: Page | undefined = await fetchNumbered(reading, 1)
  while (next !== undefined && next.items.length > 0 && !isRepeated(reading, next, pages)) {
    pages.push(next)
    if (isTooLong(pages.length, sizeOf(pages))) return undefined
    onPage(next)
    if (pages.length > 1 && next.items.length < sizeOf(pages)) break
    next = await fetchPastEnd(reading, pages.length + 1)
  }
  const sizes = pages.map(({ items }) => items.length)
  if (sizes.some((size, index) => size > sizeOf(pages) || (index < sizes.length - 1 && size < sizeOf(pages)))) {
    return { pages, doubt: `pages of different sizes came: ${sizes.join(', ')}` }
  }
  if (pages.length === 0 && (await fetchPastEnd(reading, 2))?.items.length) {
    return { pages, doubt: 'page 1 was empty, and page 2 was not' }
  }
  // A short page held all there was when it was read; behind a full one a removed row may have drawn another into it.
  if (pages.length < 2 && sizeOf(pages) < reading.pageSize) return { pages, doubt: undefined }
  return { pages, doubt: await findChange(reading, pages, [1, pages.length, ...pagesOfTwins(pages)]) }
}

/** What the service really serves: its first page, where that is not the last. */
function sizeOf(pages: readonly Page[]): number {
  return pages[0]?.items.length ?? 0
}

/** Past the end some services give the last page again. A full page 2 that is page 1 again means something else. */
function isRepeated(reading: PageReading, page: Page, pages: readonly Page[]): boolean {
  const previous = pages.at(-1)
  if (previous === undefined || !isSameJson(page.items, previous.items)) return false
  if (pages.length > 1 || page.items.length < reading.pageSize) return true
  throw pageIgnored(reading, page)
}

/** Reads pages again; what came the first time is doubtful when one of them has changed. */
export async function findChange(
  reading: PageReading,
  pages: readonly Page[],
  numbers: Iterable<number>,
): Promise<string | undefined> {
  for (const number of new Set(numbers)) {
    const again = await fetchPastEnd(reading, number)
    if (!isSameJson(again?.items, pages[number - 1]?.items)) return `page ${number} changed while the list was read`
  }
  return undefined
}

/** The numbers of pages that hold an item which another page holds too. */
export function pagesOfTwins(pages: readonly Page[]): readonly number[] {
  const pagesOf = new Map<string, Set<number>>()
  for (const [index, { items }] of pages.entries()) {
    for (const item of items) {
      const key = jsonText(item)
      const numbers = pagesOf.get(key) ?? new Set()
      pagesOf.set(key, numbers.add(index + 1))
    }
  }
  return [...pagesOf.values()].filter(({ size }) => size > 1).flatMap((numbers) => [...numbers])
}
