import { isDeepStrictEqual } from 'node:util'
import type { Page } from '../core/page.ts'
import type { Stream } from '../core/stream.ts'
import { itemText, jsonText } from '../core/text.ts'
import {
  FEWEST_ROWS,
  fetchUnlessRefused,
  isRefusal,
  isRefusedPage,
  NAMED_SIZES,
  type PageReading,
  type RefusedPage,
  MOST_ROWS_UNCUT,
  type SliceReading,
} from './page-reading.ts'
import { pageIgnored, readPages } from './read-pages.ts'

/** How many items the largest of these pages holds: the service serves at least that many. */
export function largestPage(pages: readonly Page[]): number {
  return Math.max(...pages.map(({ items }) => items.length))
}

/** A list that was read into memory. */
export interface ListReading {
  readonly pages: readonly Page[]
  /** Why the list is to be read again; undefined for a clean reading. */
  readonly doubt: string | undefined
  /** Whether nothing shows where it ends: another reading would not show it either. */
  readonly isEndUnknown?: boolean
  /** Why its end was not reached, so that the window is cut: it is too long to be held, or a page was refused. */
  readonly unread?: 'too long' | RefusedPage
}

/**
 * Reads every page of a bare array (API 4.12), which tells no total. It ends at an empty page if the next one is empty
 * too; a short page is no end, as the service may hide rows of it. A page that is refused, or that repeats an earlier
 * one, is the end only where a page of a smaller size shows that nothing lies behind the last row. A first or last page
 * that has changed by then casts doubt on the reading.
 *
 * @param mostPages that may be held: a longer list is read no further
 * @throws LivehouseError `paging.ignored` when every page is page 1 again, or one comes again and again; `api.…`.
 */
export async function readBareList(
  { pages: reading, reportPage }: SliceReading,
  mostPages: number,
): Promise<ListReading> {
  const textOf = textInAnyOrder(reading.list.stream)
  const pages: Page[] = []
  const texts = new Set<string>()
  let repeats = 0
  let emptyEnd: readonly Page[] = []
  for (;;) {
    const number = pages.length + 1
    const next = await fetchUnlessRefused(reading, number, number > 1 ? isRefusedPage : () => false)
    const isRefused = 'refusal' in next
    const text = isRefused ? '' : textOf(next.items)
    if (!isRefused && next.items.length === 0) {
      // In a longer list the service may have hidden every row of a page.
      const isShort = pages.length < 2 && (pages[0]?.items.length ?? 0) < reading.pageSize
      const behind = isShort ? next : await fetchUnlessRefused(reading, number + 1, isRefusedPage)
      emptyEnd = 'refusal' in behind || behind.items.length === 0 ? [next] : []
      if (emptyEnd.length > 0) break
    } else if (isRefused || texts.has(text)) {
      const meaning = await judgeNextPage(reading, pages, next)
      if (meaning === 'end') break
      if (isRefused) {
        // A list of one page cannot be read in another way: its parts would be one page too.
        if (isOneAnswer(reading, pages)) throw next.refusal
        return { pages, doubt: undefined, unread: next }
      }
      if (meaning === 'unknown') return { pages, doubt: `page ${number} is an earlier one again`, isEndUnknown: true }
      repeats++
      // Equal rows fill no more pages in a row: the service repeats a page.
      if (repeats > 100) throw pageIgnored(reading, next, number, number - repeats)
    } else repeats = 0
    pages.push(next)
    texts.add(text)
    if (pages.length > mostPages) return { pages, doubt: undefined, unread: 'too long' }
    reportPage(next.items.length, undefined)
  }
  // One short page held all there was when it was read. Over several, a removed row shifts others to earlier pages.
  if (isOneAnswer(reading, pages)) return { pages, doubt: undefined }
  return { pages, doubt: await findChange(reading, [...pages, ...emptyEnd], pages.length) }
}

/**
 * The page size for another reading of a list: each time smaller by a sixteenth of what the service serves, so that
 * rows lie on other pages. A service that sorts by a value that is not unique may order equal rows anew on each page:
 * then some come on two pages and others on none, and the same ones whenever pages have that size.
 *
 * @param attempt from 1
 */
export function sizeOfReading(served: number, attempt: number, fewest = 1): number {
  return Math.max(fewest, served - Math.ceil(served / 16) * (attempt - 1))
}

/** Items as text, in whatever order: some services put rows of one second in a new order each time. */
function textInAnyOrder(stream: Stream): (items: readonly unknown[]) => string {
  return (items) => jsonText(items.map((item) => itemText(stream, item)).sort())
}

function sameInAnyOrder(stream: Stream): (items: readonly unknown[], others: readonly unknown[]) => boolean {
  const textOf = textInAnyOrder(stream)
  return (items, others) => items.length === others.length && textOf(items) === textOf(others)
}

/** Whether the list is surely one page. */
function isOneAnswer({ pageSize }: PageReading, pages: readonly Page[]): boolean {
  return pages.length < 2 && (pages[0]?.items.length ?? 0) < pageSize
}

/** Reads the first, the last and each empty page again. @returns that one of them has changed, in words */
async function findChange(reading: PageReading, pages: readonly Page[], last: number): Promise<string | undefined> {
  const empty = pages.flatMap(({ items }, index) => (items.length === 0 ? [index + 1] : []))
  for (const number of new Set([1, ...empty, last])) {
    const page = pages[number - 1]
    if (page && !(await isUnchanged(reading, number, page))) return `page ${number} changed while the list was read`
  }
  return undefined
}

/** Whether a page has the same items as before, in whatever order. */
export async function isUnchanged(reading: PageReading, number: number, before: Page): Promise<boolean> {
  const again = await fetchUnlessRefused(reading, number)
  const areSame = sameInAnyOrder(reading.list.stream)
  return !('refusal' in again) && again.total === before.total && areSame(again.items, before.items)
}

/** No list has so many pages. */
const BEYOND_ANY_END = 1_000_000

/**
 * What it means that the next page is refused, or is an earlier one again. If a page far beyond any end differs from
 * it, its rows are only equal to earlier ones, and there is `more`. Otherwise a smaller page is asked for that has room
 * for the last row and the next one: it ends with the last row only if the list does, whatever the service gives after
 * the end. A page may also be refused for its number, or only once: so the smaller page has as high a number, and the
 * refused one is asked for again.
 *
 * @param pages at least one, of at least one item
 * @returns `unknown` where no size tells, or what came is neither: the list moved, or lies too deep
 * @throws LivehouseError `paging.ignored` where the first rows come again whatever is asked for, `api.…` of a call
 */
async function judgeNextPage(reading: PageReading, pages: readonly Page[], next: Page | RefusedPage) {
  const areSame = sameInAnyOrder(reading.list.stream)
  const isRefused = 'refusal' in next
  if (!isRefused) {
    const far = await fetchUnlessRefused(reading, BEYOND_ANY_END, isRefusedPage)
    if (!('refusal' in far) && !areSame(far.items, next.items)) return 'more'
  }
  // It may have been refused only once.
  const isOver = async () =>
    !isRefused || 'refusal' in (await fetchUnlessRefused(reading, pages.length + 1, isRefusedPage))
  const rows = pages.flatMap(({ items }) => items)
  const size = largestPage(pages)
  // The place of the last row as the service counts, which may hide some rows before it.
  const end = (pages.length - 1) * size + (pages.at(-1)?.items.length ?? 0)
  // A smaller size, as larger ones may be clamped: one that the interface names, or that shows most of what follows.
  const shown = ({ pageSize, known }: Readonly<Record<'pageSize' | 'known', number>>) =>
    pageSize - known + (NAMED_SIZES.includes(pageSize) && pageSize - known >= FEWEST_ROWS ? reading.pageSize : 0)
  const [look] = Array.from({ length: size - 1 }, (_, index) => index + 1)
    .map((pageSize) => ({ pageSize, number: Math.ceil(end / pageSize), known: end % pageSize }))
    .filter(({ number, known }) => known > 0 && (!isRefused || number > pages.length))
    .sort((a, b) => shown(b) - shown(a))
  if (look === undefined) {
    const isAll = pages.length === 1 && size <= MOST_ROWS_UNCUT && size < reading.pageSize
    return isAll && (await isOver()) ? 'end' : 'unknown'
  }
  const { pageSize, number, known } = look
  const page = await fetchUnlessRefused({ ...reading, pageSize }, number)
  if ('refusal' in page)
    return (await endsInTens(reading, pages, end, pageSize)) && (await isOver()) ? 'end' : 'unknown'
  const { items } = page
  // Some of its rows may be hidden: it must end with the last one.
  const isEnd = items.length > 0 && items.length <= known && areSame(items, rows.slice(-items.length))
  if (isRefused) return isEnd && (await isOver()) ? 'end' : 'unknown'
  if (isEnd) return 'end'
  if (areSame(items, [...rows.slice(-known), ...next.items].slice(0, pageSize))) return 'more'
  // Where more pages came, the first one may come again because the page lies too deep.
  const isFirst = items.length >= pageSize && areSame(items, rows.slice(0, items.length))
  if (isFirst && pages.length === 1) throw pageIgnored(reading, page, number)
  return 'unknown'
}

/**
 * Whether the list ends at this place, for a service that takes only the sizes that its interface names: a page of ten
 * then holds the last row and has room for another, or, of a list that fits one answer, no further page is served.
 */
async function endsInTens(reading: PageReading, pages: readonly Page[], end: number, other: number): Promise<boolean> {
  if (!('refusal' in (await fetchUnlessRefused({ ...reading, pageSize: other }, 1)))) return false
  const tens = { ...reading, pageSize: FEWEST_ROWS }
  const number = Math.ceil(end / FEWEST_ROWS)
  const known = end - (number - 1) * FEWEST_ROWS
  const last = await fetchUnlessRefused(tens, number)
  const rows = pages.flatMap(({ items }) => items).slice(-known)
  if ('refusal' in last || !sameInAnyOrder(reading.list.stream)(last.items, rows)) return false
  const isOver = async () => isOneAnswer(reading, pages) && 'refusal' in (await fetchUnlessRefused(tens, number + 1))
  return known < FEWEST_ROWS || (await isOver())
}

/**
 * Reads a list of rows without an id that tells a total. The count alone proves nothing here: a repeated page in place
 * of a missing one gives the same count, and shows by its rows (`compareReadings`), whatever number it echoes. Pages
 * must have the same headers. More rows than the total disprove it; then a list that may be cut is read no further.
 */
export async function readCountedList(
  { pages: reading, reportPage }: SliceReading,
  mayBeCut: boolean,
): Promise<ListReading> {
  const pages: Page[] = []
  const doubts: string[] = []
  let received = 0
  const known = new Set<string>()
  const textOf = (item: unknown) => itemText(reading.list.stream, item)
  const countKnown = ({ items }: Page) => items.filter((item) => known.has(textOf(item))).length
  try {
    for await (const { number, page, lastPage } of readPages(reading, countKnown)) {
      for (const item of page.items) known.add(textOf(item))
      pages.push(page)
      received += page.items.length
      reportPage(page.items.length, lastPage)
      // A short page may be all there is: the pages behind it show that.
      const isMore = mayBeCut && received > (page.total ?? received)
      if (isMore && !isOneAnswer(reading, pages)) return { pages, doubt: undefined, unread: 'too long' }
      if (page.items.length === 0) continue
      if (page.total !== pages[0]?.total) doubts.push('the total moved while the list was read')
      if (!isDeepStrictEqual(page.title, pages[0]?.title))
        doubts.push(`the headers of page ${number} are not those of page 1`)
    }
  } catch (error) {
    if (pages.length > 0 && isRefusal(error)) return { pages, doubt: undefined, unread: { refusal: error } }
    throw error
  }
  const isMore = mayBeCut && pages.some(({ total = received }) => received > total)
  return isMore ? { pages, doubt: undefined, unread: 'too long' } : { pages, doubt: doubts[0] }
}
