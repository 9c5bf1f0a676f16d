import { isDeepStrictEqual } from 'node:util'
import type { Page } from '../core/page.ts'
import type { Stream } from '../core/stream.ts'
import { itemText, jsonText } from '../core/text.ts'
import { MAX_ROWS_UNCUT, pageIgnored, readPages } from './read-pages.ts'
import type { SliceReading } from './slice-reading.ts'
import { fetchUnlessRefused, isRefusal, isRefusedPage, MIN_ROWS, NAMED_SIZES } from './slice-reading.ts'
import type { RefusedPage, Requests } from './slice-work.ts'

/** The number of items on the largest of these pages. The service serves pages of at least this size. */
export function largestPage(pages: readonly Page[]): number {
  return Math.max(...pages.map(({ items }) => items.length))
}

/** A walk over a list whose rows have no id, with its pages in memory. */
export interface UnkeyedWalk {
  readonly pages: readonly Page[]
  /** Why the list must be read again; undefined after a clean walk. */
  readonly doubt: string | undefined
  /** Whether nothing shows where the list ends, so that another walk would not show it either. */
  readonly isEndUnknown?: boolean
  /** Why the end was not reached, so that the window is cut: the list is too long for memory, or a page was refused. */
  readonly unread?: 'too long' | RefusedPage
}

/**
 * Reads every page of a bare array, which has no total (API 4.12). The list ends at an empty page if the next one is
 * empty too; a short page does not end it, because the service may hide some of its rows. A page that is refused, or
 * repeats an earlier one, ends it only if a smaller page shows that nothing follows the last row. If the first, the
 * last or an empty page has changed by then, the walk is doubtful.
 *
 * @param mostPages how many pages may be held; a longer list is not read further
 * @throws LivehouseError `paging.ignored` if every page repeats page 1, or one page comes again and again; `api.…`
 */
export async function readBareList(reading: SliceReading, mostPages: number): Promise<UnkeyedWalk> {
  const { requests, reportPage } = reading
  const { stream } = requests.list
  const pages: Page[] = []
  const texts = new Set<string>()
  let repeats = 0
  let emptyEnd: readonly Page[] = []
  for (;;) {
    const number = pages.length + 1
    const next = await fetchUnlessRefused(requests, number, number > 1 ? isRefusedPage : () => false)
    const isRefused = 'refusal' in next
    const text = isRefused ? '' : textInAnyOrder(stream, next.items)
    if (!isRefused && next.items.length === 0) {
      // In a longer list, the service may hide every row of a page.
      const isShort = pages.length < 2 && (pages[0]?.items.length ?? 0) < requests.pageSize
      const behind = isShort ? next : await fetchUnlessRefused(requests, number + 1, isRefusedPage)
      emptyEnd = 'refusal' in behind || behind.items.length === 0 ? [next] : []
      if (emptyEnd.length > 0) break
    } else if (isRefused || texts.has(text)) {
      const meaning = await judgeNextPage(requests, pages, next)
      if (meaning === 'end') break
      if (isRefused) {
        // Cutting a list of one page does not help: its parts would be of one page, too.
        if (isOneAnswer(requests, pages)) throw next.refusal
        return { pages, doubt: undefined, unread: next }
      }
      if (meaning === 'unknown') return { pages, doubt: `page ${number} repeats an earlier one`, isEndUnknown: true }
      repeats++
      // Equal rows do not fill this many pages: the service repeats a page.
      if (repeats > 100) throw pageIgnored(requests, next, number, number - repeats)
    } else repeats = 0
    pages.push(next)
    texts.add(text)
    if (pages.length > mostPages) return { pages, doubt: undefined, unread: 'too long' }
    reportPage(next.items.length, undefined)
  }
  // One short page is a snapshot of the whole list. Between several, a removed row moves others to earlier pages.
  if (isOneAnswer(requests, pages)) return { pages, doubt: undefined }
  return { pages, doubt: await findChange(requests, [...pages, ...emptyEnd], pages.length) }
}

/**
 * The page size for another walk over a list, each time smaller by a sixteenth of the size that the service serves, so
 * that rows lie on other pages. If a service sorts by a value that is not unique and orders equal rows anew on each
 * page, some rows come on two pages and others on none, and always the same ones at the same page size.
 *
 * @param attempt from 1
 */
export function sizeOfWalk(served: number, attempt: number, fewest = 1): number {
  return Math.max(fewest, served - Math.ceil(served / 16) * (attempt - 1))
}

/** Items as text regardless of their order, because some services reorder the rows of one second in each answer. */
function textInAnyOrder(stream: Stream, items: readonly unknown[]): string {
  return jsonText(items.map((item) => itemText(stream, item)).sort())
}

function areSameInAnyOrder(stream: Stream, items: readonly unknown[], others: readonly unknown[]): boolean {
  return items.length === others.length && textInAnyOrder(stream, items) === textInAnyOrder(stream, others)
}

/** Whether these pages show that the list fits on one page. */
function isOneAnswer({ pageSize }: Requests, pages: readonly Page[]): boolean {
  return pages.length < 2 && (pages[0]?.items.length ?? 0) < pageSize
}

/** Reads the first, the last and each empty page again. @returns a sentence if one of them has changed */
async function findChange(requests: Requests, pages: readonly Page[], last: number): Promise<string | undefined> {
  const empty = pages.flatMap(({ items }, index) => (items.length === 0 ? [index + 1] : []))
  for (const number of new Set([1, ...empty, last])) {
    const page = pages[number - 1]
    if (page && !(await isUnchanged(requests, number, page))) return `page ${number} changed while the list was read`
  }
  return undefined
}

/** Whether a page still has the same items, in any order. */
export async function isUnchanged(requests: Requests, number: number, before: Page): Promise<boolean> {
  const again = await fetchUnlessRefused(requests, number)
  if ('refusal' in again || again.total !== before.total) return false
  return areSameInAnyOrder(requests.list.stream, again.items, before.items)
}

/** No list has this many pages. */
const BEYOND_ANY_END = 1_000_000

/**
 * Decides whether the list ends if the next page is refused, or repeats an earlier one. If a page far beyond any end
 * differs from a repeated page, its rows only equal earlier ones, and there is `more`. Otherwise a smaller page with
 * room for the last row and the next one is requested: it ends with the last row only if the list does, whatever the
 * service returns behind the end. A page may also be refused for its high number, or by chance. So the smaller page
 * has a number at least as high, and the refused page is requested again.
 *
 * @param pages at least one, of at least one item
 * @returns `unknown` if no page size can show it, or the answer fits neither: the list moved, or the page is too deep
 * @throws LivehouseError `paging.ignored` if every request returns the first rows; `api.…` of a call
 */
async function judgeNextPage(requests: Requests, pages: readonly Page[], next: Page | RefusedPage) {
  const { stream } = requests.list
  const isRefused = 'refusal' in next
  if (!isRefused) {
    const far = await fetchUnlessRefused(requests, BEYOND_ANY_END, isRefusedPage)
    if (!('refusal' in far) && !areSameInAnyOrder(stream, far.items, next.items)) return 'more'
  }
  // The refusal may have been by chance.
  const isOver = async () =>
    !isRefused || 'refusal' in (await fetchUnlessRefused(requests, pages.length + 1, isRefusedPage))
  const rows = pages.flatMap(({ items }) => items)
  const size = largestPage(pages)
  // The position of the last row at the service, including rows that it hides.
  const end = (pages.length - 1) * size + (pages.at(-1)?.items.length ?? 0)
  // Larger sizes may be clamped. Of the smaller ones, prefer a named one, or the one with the most room behind the end.
  const preference = ({ pageSize, seen }: Readonly<Record<'pageSize' | 'seen', number>>) =>
    pageSize - seen + (NAMED_SIZES.includes(pageSize) && pageSize - seen >= MIN_ROWS ? requests.pageSize : 0)
  const [probe] = Array.from({ length: size - 1 }, (_, index) => index + 1)
    .map((pageSize) => ({ pageSize, number: Math.ceil(end / pageSize), seen: end % pageSize }))
    .filter(({ number, seen }) => seen > 0 && (!isRefused || number > pages.length))
    .sort((a, b) => preference(b) - preference(a))
  if (probe === undefined) {
    const isAll = pages.length === 1 && size <= MAX_ROWS_UNCUT && size < requests.pageSize
    return isAll && (await isOver()) ? 'end' : 'unknown'
  }
  const { pageSize, number, seen } = probe
  const page = await fetchUnlessRefused({ ...requests, pageSize }, number)
  if ('refusal' in page)
    return (await endsInTens(requests, pages, end, pageSize)) && (await isOver()) ? 'end' : 'unknown'
  const { items } = page
  // Some of its rows may be hidden, but it must end with the last row.
  const mayBeEnd = items.length > 0 && items.length <= seen
  const isEnd = mayBeEnd && areSameInAnyOrder(stream, items, rows.slice(-items.length))
  if (isRefused) return isEnd && (await isOver()) ? 'end' : 'unknown'
  if (isEnd) return 'end'
  const following = [...rows.slice(-seen), ...next.items].slice(0, pageSize)
  if (areSameInAnyOrder(stream, items, following)) return 'more'
  // If several pages came before, the service may return the first one because this page is too deep.
  const isFirst = items.length >= pageSize && areSameInAnyOrder(stream, items, rows.slice(0, items.length))
  if (isFirst && pages.length === 1) throw pageIgnored(requests, page, number)
  return 'unknown'
}

/**
 * Whether the list ends at position `end`, for a service that accepts only the page sizes that its interface names. A
 * page of ten must then end with the last row and have room for another; if it is full, the list must fit on one page,
 * and the next page of ten be refused.
 */
async function endsInTens(requests: Requests, pages: readonly Page[], end: number, other: number): Promise<boolean> {
  if (!('refusal' in (await fetchUnlessRefused({ ...requests, pageSize: other }, 1)))) return false
  const tens = { ...requests, pageSize: MIN_ROWS }
  const number = Math.ceil(end / MIN_ROWS)
  const seen = end - (number - 1) * MIN_ROWS
  const last = await fetchUnlessRefused(tens, number)
  const rows = pages.flatMap(({ items }) => items).slice(-seen)
  if ('refusal' in last || !areSameInAnyOrder(requests.list.stream, last.items, rows)) return false
  const isOver = async () => isOneAnswer(requests, pages) && 'refusal' in (await fetchUnlessRefused(tens, number + 1))
  return seen < MIN_ROWS || (await isOver())
}

/**
 * Reads a list with a total whose rows have no id. The count alone proves nothing here: with a repeated page in place
 * of a missing one it is the same, whatever number is echoed; only the rows show that (`compareWalks`). All pages
 * must have the same headers. More rows than the total disprove it; a list that may be cut is then not read further.
 */
export async function readCountedList(reading: SliceReading, mayBeCut: boolean): Promise<UnkeyedWalk> {
  const { requests, reportPage } = reading
  const pages: Page[] = []
  const doubts: string[] = []
  let received = 0
  const knownTexts = new Set<string>()
  const textOf = (item: unknown) => itemText(requests.list.stream, item)
  const countKnown = ({ items }: Page) => items.filter((item) => knownTexts.has(textOf(item))).length
  try {
    for await (const { number, page, lastPage } of readPages(requests, countKnown)) {
      for (const item of page.items) knownTexts.add(textOf(item))
      pages.push(page)
      received += page.items.length
      reportPage(page.items.length, lastPage)
      // A short page may be the whole list, which the pages behind it show.
      const isMore = mayBeCut && received > (page.total ?? received)
      if (isMore && !isOneAnswer(requests, pages)) return { pages, doubt: undefined, unread: 'too long' }
      if (page.items.length === 0) continue
      if (page.total !== pages[0]?.total) doubts.push('the total changed while the list was read')
      if (!isDeepStrictEqual(page.title, pages[0]?.title))
        doubts.push(`the headers of page ${number} differ from those of page 1`)
    }
  } catch (error) {
    if (pages.length > 0 && isRefusal(error)) return { pages, doubt: undefined, unread: { refusal: error } }
    throw error
  }
  const isMore = mayBeCut && pages.some(({ total = received }) => received > total)
  return isMore ? { pages, doubt: undefined, unread: 'too long' } : { pages, doubt: doubts[0] }
}
