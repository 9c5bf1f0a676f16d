import { isDeepStrictEqual } from 'node:util'
import { jsonText } from '../core/json-text.ts'
import type { Page } from '../core/page.ts'
import { lookBehind } from './list-end.ts'
import { fetchNumbered, fetchUnlessRefused, type PageReading, pageIgnored, type RefusedPage } from './page-reading.ts'

/** Equal rows fill no more pages in a row: the service repeats its last page, though not far behind it. */
const MOST_REPEATS = 100

/** What reading a list into memory brought. */
export interface ListReading {
  readonly pages: readonly Page[]
  /** Why the list is to be read again; undefined for a clean reading. */
  readonly doubt: string | undefined
  /** Whether nothing shows where it ends: what lies behind has not come, however often it is read so. */
  readonly isEndUnknown?: boolean
  /** Why its end was not reached, so that the window has to be cut: it is too long to be held, or a page was refused. */
  readonly unread?: 'too long' | RefusedPage
}

/** Whether a list of so many pages is more than may be held. */
export type IsTooLong = (pages: number, pageSize: number) => boolean

/**
 * Reads every page of a bare array (API 4.12), which tells no total. It ends at an empty page: a short page may be one of which
 * rows are hidden. A page that is refused, or that repeats the one before it, is the end only where pages of a smaller size show
 * that nothing lies behind the last row. Then the first and the last page are read again, and where equal
 * items lie on two pages (a row that a late record has shifted looks like a twin) those pages too. Any difference is a doubt.
 *
 * @throws LivehouseError `paging.ignored` when every page is page 1 again, or one comes again and again; `api.…` of a call.
 */
export async function readBareList(
  reading: PageReading,
  onPage: (page: Page) => void,
  isTooLong: IsTooLong,
): Promise<ListReading> {
  const pages: Page[] = []
  let repeats = 0
  for (;;) {
    const number = pages.length + 1
    const next = number === 1 ? await fetchNumbered(reading, 1) : await fetchUnlessRefused(reading, number)
    const isRefused = 'refusal' in next
    if (!isRefused && next.items.length === 0) break
    if (isRefused || isDeepStrictEqual(next.items, pages.at(-1)?.items)) {
      const meaning = await lookBehind(reading, pages, next)
      if (meaning === 'end') break
      if (isRefused) return refused(reading, pages, next)
      if (meaning === 'unknown')
        return { pages, doubt: `page ${number} is the one before it again`, isEndUnknown: true }
      repeats++
      if (repeats > MOST_REPEATS) throw pageIgnored(reading, next, number, number - repeats)
    } else repeats = 0
    pages.push(next)
    if (isTooLong(pages.length, pages[0]?.items.length ?? 0)) return { pages, doubt: undefined, unread: 'too long' }
    onPage(next)
  }
  // Such a page held all there was when it was read; behind a full one a removed row may have drawn another into it.
  if (isOneAnswer(reading, pages)) return { pages, doubt: undefined }
  return { pages, doubt: await findChange(reading, pages, [1, pages.length, ...pagesOfTwins(pages)]) }
}

/** What fits one answer would come in one when it is cut, too: then there is no other way to read it. */
function refused(reading: PageReading, pages: readonly Page[], unread: RefusedPage): ListReading {
  if (isOneAnswer(reading, pages)) throw unread.refusal
  return { pages, doubt: undefined, unread }
}

/** Whether it is clear that one page is all. */
function isOneAnswer({ pageSize }: PageReading, pages: readonly Page[]): boolean {
  return pages.length < 2 && (pages[0]?.items.length ?? 0) < pageSize
}

/** Reads pages again; what came the first time is doubtful when one of them has changed. */
export async function findChange(
  reading: PageReading,
  pages: readonly Page[],
  numbers: Iterable<number>,
): Promise<string | undefined> {
  for (const number of new Set(numbers)) {
    const again = await fetchUnlessRefused(reading, number)
    if ('refusal' in again || !isSameJson(again.items, pages[number - 1]?.items))
      return `page ${number} changed while the list was read`
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
