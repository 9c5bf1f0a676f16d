import assert from 'node:assert/strict'
import PQueue from 'p-queue'
import { yieldToEventLoop } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import type { CallContext, Page } from '../core/page.ts'
import { describeList } from '../core/slice.ts'
import { areSameItems } from '../core/text.ts'
import { fetchByNumber, fetchUnlessRefused, isRefusedPage } from './slice-reading.ts'
import type { PageShare, ReadAhead, RefusedPage, Requests } from './slice-work.ts'
import type { Walk } from './walk.ts'

/** No service clamps pages to this few rows, so they are the whole list, whatever its total. */
export const MAX_ROWS_UNCUT = 2

/**
 * Reads every page of a list with a total, in order; the pages after the first are fetched concurrently. No stop
 * condition is trusted alone. The list ends if its total has come and the last page is not full. Otherwise the walk
 * continues behind the announced end until a page is refused twice, or holds nothing new and nothing new follows it:
 * some services repeat their first or last page there, and some announce fewer items than they have. Such a page is not
 * yielded. A list without a total ends after page 1.
 *
 * @returns pages with their numbers from 1; `lastPage` is the expected number of pages
 * @param countKnown counts the items of a page that were on pages yielded before
 * @throws LivehouseError `paging.ignored` if page 2 repeats page 1 twice; `api.…` of a call, also of a page behind the
 * announced end if more rows may follow there: more came than were announced, and the last page is as long as any
 */
export async function* readPages(requests: Requests, countKnown: (page: Page) => number) {
  const first = await fetchByNumber(requests, 1)
  const size = effectiveSize(requests, first)
  let total = first.total ?? first.items.length
  let received = first.items.length
  let largest = received
  /** The received items behind the announced end that had come before. */
  let receivedAgain = 0
  let lastPage = lastPageOf(total, size)
  const ahead = prefetcher(requests)
  let previous = first
  let emptyPages = 0
  const askBehind = async (page: number) => await fetchUnlessRefused(requests, page, isRefusedPage)
  try {
    yield { number: 1, page: first, lastPage }
    for (let number = 2; number <= lastPage || received !== total || previous.items.length >= size; number++) {
      // Without this check, a moving list that repeats its pages behind the end would never end: each has a new row.
      if (receivedAgain * 2 > received) return
      let next: Page | RefusedPage = number > lastPage ? await askBehind(number) : await ahead.take(number, lastPage)
      // A single refusal may be by chance, and the total may be the most that the service counts.
      if ('refusal' in next) next = await askBehind(number)
      if ('refusal' in next) {
        const isFull = previous.items.length >= (number > 2 ? largest : Math.min(MAX_ROWS_UNCUT + 1, size))
        if (received > total && isFull) throw next.refusal
        return
      }
      // If a page has no total, that of page 1 holds.
      const page = { ...next, total: next.total ?? first.total }
      total = Math.max(total, page.total ?? 0)
      lastPage = Math.max(lastPage, lastPageOf(total, size))
      if (number > lastPage) {
        if (isNothing(requests, page, first, previous)) {
          if (received < total) return
          // The total may be a limit, and a single page behind it may be empty or repeat an earlier one.
          const behind = await askBehind(number + 1)
          if ('refusal' in behind || isNothing(requests, behind, first, previous, page)) return
          // If as many rows came as announced, a list that starts over has ended.
          if (received === total && countKnown(behind) === behind.items.length) return
        }
        receivedAgain += countKnown(page)
      }
      emptyPages = page.items.length === 0 ? emptyPages + 1 : 0
      // After two empty pages before the announced end, no more rows are expected.
      if (emptyPages === 2) return
      if (number === 2 && (await isFirstAgain(requests, page, first))) throw pageIgnored(requests, page)
      received += page.items.length
      largest = Math.max(largest, page.items.length)
      previous = page
      yield { number, page, lastPage }
    }
  } finally {
    await ahead.stop()
  }
}

/** Whether a page is empty or repeats one of these. Other known rows are not nothing: missing rows may follow them. */
function isNothing({ list }: Requests, { items }: Page, ...known: readonly Page[]): boolean {
  return items.length === 0 || known.some((each) => areSameItems(list.stream, items, each.items))
}

/** Whether page 2 shows that the service ignores the page parameter. */
async function isFirstAgain(requests: Requests, page: Page, first: Page): Promise<boolean> {
  // A page of one row shows nothing, because two rows may be equal, unless it echoes page 1.
  const mayShow = page.items.length > 1 || (page.items.length === 1 && page.echoedPage === 1)
  const isSame = ({ items }: Page) => areSameItems(requests.list.stream, page.items, items)
  if (!mayShow || page.total !== first.total || !isSame(first)) return false
  // Rows of a whole page may just have moved to the front of page 1, or a single answer may be wrong.
  return isSame(await fetchByNumber(requests, 1)) && isSame(await fetchByNumber(requests, 2))
}

/** Reads the first pages of a moving list until one has no new key, so that rows that moved to the front land too. */
export async function readHead(
  requests: Requests,
  walk: Pick<Walk, 'summary'>,
  add: (page: Page) => Promise<void>,
): Promise<void> {
  let distinctBefore: number
  let number = 1
  do {
    distinctBefore = walk.summary().distinct
    const page = await fetchUnlessRefused(requests, number, number > 1 ? isRefusedPage : () => false)
    if ('refusal' in page) {
      // A page within the list must be served, because it may hold the rows that moved.
      if ((number - 1) * requests.pageSize < (walk.summary().totals?.smallest ?? 0)) throw page.refusal
      return
    }
    await add(page)
    number++
  } while (walk.summary().distinct > distinctBefore)
}

/** The page size that the service serves. Page 1 shows it if more items are announced, or if it echoes its length. */
export function effectiveSize({ pageSize }: Requests, { items, total = 0, echoedPageSize }: Page): number {
  const isClamped = items.length > 0 && (items.length < total || items.length === echoedPageSize)
  return isClamped ? Math.min(items.length, pageSize) : pageSize
}

/** The error for a page that repeats an earlier one. */
export function pageIgnored({ list }: Requests, { items, echoedPage }: Page, number = 2, earlier = 1): LivehouseError {
  const echo = echoedPage === undefined ? '' : `, and calls itself page ${echoedPage}`
  const evidence = `page ${number} holds the same ${items.length} items as page ${earlier}${echo}`
  const repair = `Nothing beyond page ${earlier} can be read; ask the service's support.`
  const message = `${describeList(list)}: the service ignores the page parameter: ${evidence}. ${repair}`
  return new LivehouseError('paging.ignored', message, {})
}

function lastPageOf(total: number, size: number): number {
  return Math.max(1, Math.ceil(total / size))
}

/** Fetches pages ahead. `take` returns the next page, in order, and requests pages up to `lastPage`; `stop` ends it. */
function prefetcher(requests: Requests) {
  const leaving = new AbortController()
  const underway: Promise<Page>[] = []
  let context: CallContext | undefined
  let share: PageShare | undefined
  const ask = (number: number) => {
    context ??= { ...requests.context, signal: AbortSignal.any([requests.context.signal, leaving.signal]) }
    const page = fetchByNumber({ ...requests, context }, number)
    // Not an unhandled rejection if it fails while an earlier page is awaited: `take` or `stop` awaits it later.
    page.catch(() => {})
    return page
  }
  return {
    take: async (number: number, lastPage: number): Promise<Page> => {
      share ??= await requests.readAhead(lastPage)
      const end = Math.min(lastPage, number + share.pages() - 1)
      for (let next = number + underway.length; next <= end; next++) underway.push(ask(next))
      const page = underway.shift()
      assert(page !== undefined)
      try {
        return await page
      } finally {
        // Several pages may have arrived and are read one after the other. Between them, new calls must be sent.
        await yieldToEventLoop()
      }
    },
    stop: async (): Promise<void> => {
      // Only if needed: aborting creates an error, which takes as long as reading a small page.
      if (underway.length > 0) leaving.abort()
      share?.end()
      await Promise.allSettled(underway)
    },
  }
}

/** Three lists of more than ten pages are read at a time, by the measurements of ADR 0083. */
const LONG_PAGES = 10
const LONG_AT_ONCE = 3

/** Creates the limit on pages in memory. @param most the number of pages over all lists that are read concurrently */
export function createReadAhead(most: number): ReadAhead {
  const longLists = new PQueue({ concurrency: LONG_AT_ONCE })
  let lists = 0
  return async (pages) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    if (pages > LONG_PAGES) {
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
      void longLists.add(async () => {
        begin()
        await ended
      })
      await begun
    }
    lists += 1
    return {
      pages: () => Math.max(1, Math.floor(most / lists)),
      end: () => {
        lists -= 1
        end()
      },
    }
  }
}
