import { isDeepStrictEqual } from 'node:util'
import assert from 'node:assert/strict'
import { yieldToEventLoop } from '../core/clock.ts'
import type { CallContext, Page } from '../core/page.ts'
import { fetchNumbered, fetchPastEnd, type PageReading, pageIgnored } from './page-reading.ts'
import type { Reader } from './read-ahead.ts'

/** A page and its number from 1. */
export interface NumberedPage {
  readonly number: number
  readonly page: Page
  /** How many pages the walk will have, as far as is known now. */
  readonly lastPage: number
}

/** Pages past the announced end are asked for at most this many times the announced number (and a few). */
const OVERRUN_FACTOR = 2
const OVERRUN_MARGIN = 10
/** In a row, before the announced end: more of them will not come. */
const MOST_EMPTY_PAGES = 2

/**
 * Reads every page of a list that tells its total, in order, the later ones concurrently. No stop condition is trusted
 * alone: the announced total, a short page, an empty page and a repeated page must agree, and where fewer items came than
 * announced, or the last page is full, the walk goes on until a page is empty or repeats the one before it. A page that repeats the one before it is never
 * yielded. A list without a total ends after page 1.
 *
 * @throws LivehouseError `paging.ignored` when page 2 is page 1 again, `api.…` of a call.
 */
export async function* readPages(reading: PageReading): AsyncGenerator<NumberedPage, void, void> {
  const first = await fetchNumbered(reading, 1)
  const size = effectiveSize(reading, first)
  let total = first.total ?? first.items.length
  let received = first.items.length
  let lastPage = lastPageOf(total, size)
  // Before page 1 is worked on: meanwhile the next ones come.
  const ahead = prefetcher(reading, lastPage)
  let previous = first
  let emptyPages = 0
  try {
    yield { number: 1, page: first, lastPage }
    for (let number = 2; number <= lastPage || received < total || previous.items.length >= size; number++) {
      if (number > lastPage * OVERRUN_FACTOR + OVERRUN_MARGIN) return
      const page = number > lastPage ? await fetchPastEnd(reading, number) : await ahead.take(number, lastPage)
      if (page === undefined) return
      emptyPages = page.items.length === 0 ? emptyPages + 1 : 0
      if (emptyPages > 0 && (number > lastPage || emptyPages === MOST_EMPTY_PAGES)) return
      if (isSamePage(page, previous)) {
        if (number > lastPage) return
        if (number === 2 && page.total === first.total) throw pageIgnored(reading, page)
        continue
      }
      total = Math.max(total, page.total ?? 0)
      lastPage = Math.max(lastPage, lastPageOf(total, size))
      received += page.items.length
      previous = page
      yield { number, page, lastPage }
    }
  } finally {
    await ahead.stop()
  }
}

/** A page that is not full although more is announced shows what size the service really serves. */
function effectiveSize({ pageSize }: PageReading, first: Page): number {
  const isClamped = first.items.length > 0 && first.items.length < pageSize && first.items.length < (first.total ?? 0)
  return isClamped ? first.items.length : pageSize
}

function lastPageOf(total: number, size: number): number {
  return Math.max(1, Math.ceil(total / size))
}

function isSamePage(a: Page, b: Page): boolean {
  // The first items differ on nearly every page: the others need not be looked at.
  return a.items.length > 0 && isDeepStrictEqual(a.items[0], b.items[0]) && isDeepStrictEqual(a.items, b.items)
}

interface Prefetcher {
  /** The page of this number; asks ahead for those up to `lastPage`. Numbers must be taken in order. */
  readonly take: (number: number, lastPage: number) => Promise<Page>
  /** Ends what is still under way. */
  readonly stop: () => Promise<void>
}

/** Begins as soon as it is the turn of a list of so many pages, where there are more than the first. */
function prefetcher(reading: PageReading, pages: number): Prefetcher {
  const leaving = new AbortController()
  let context: CallContext | undefined
  const underway: Promise<Page>[] = []
  let reader: Reader | undefined
  const ask = (number: number) => {
    context ??= { ...reading.context, signal: AbortSignal.any([reading.context.signal, leaving.signal]) }
    const page = fetchNumbered({ ...reading, context }, number)
    // A page that fails while an earlier one is awaited is not unhandled: it is awaited in its turn, or in `stop`.
    page.catch(() => {})
    return page
  }
  const askAhead = ({ room }: Reader, number: number, lastPage: number): void => {
    if (underway.length === 0) underway.push(ask(number))
    const end = Math.min(lastPage, number + room() - 1)
    for (let next = number + underway.length; next <= end; next++) underway.push(ask(next))
  }
  const begin = async (number: number, lastPage: number): Promise<Reader> => {
    const opened = await reading.readAhead.begin(lastPage)
    if (leaving.signal.aborted) opened.end()
    else {
      reader = opened
      askAhead(opened, number, lastPage)
    }
    return opened
  }
  let begun = pages > 1 ? begin(2, pages) : undefined
  return {
    take: async (number, lastPage) => {
      begun ??= begin(number, lastPage)
      const opened = await begun
      askAhead(opened, number, lastPage)
      const page = underway.shift()
      assert(page !== undefined)
      try {
        return await opened.next(page)
      } finally {
        // Pages that have come are read one after the other: in between the places of others are to be filled again.
        await yieldToEventLoop()
      }
    },
    stop: async () => {
      if (begun === undefined) return
      leaving.abort()
      reader?.end()
      await Promise.allSettled(underway)
    },
  }
}
