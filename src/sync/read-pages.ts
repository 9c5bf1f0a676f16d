import { isDeepStrictEqual } from 'node:util'
import assert from 'node:assert/strict'
import pLimit from 'p-limit'
import { yieldToEventLoop } from '../core/clock.ts'
import type { CallContext, Page } from '../core/page.ts'
import { fetchNumbered, fetchUnlessRefused, type PageReading, pageIgnored } from './page-reading.ts'
import type { PageShare, ReadAhead } from './slice-work.ts'

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
 * alone: the announced total, a short page, an empty page and a repeated page must agree, and where fewer items came
 * than announced, or the last page is full, the walk goes on behind the announced end until a page is refused or brings
 * nothing that had not come: some services give their first or last page again there. Such a page is never yielded, nor
 * is one that repeats the one before it. A list without a total ends after page 1.
 *
 * @param hasCome whether every item of a page is among those of the pages that were yielded
 * @throws LivehouseError `paging.ignored` when page 2 is page 1 again, `api.…` of a call.
 */
export async function* readPages(
  reading: PageReading,
  hasCome: (page: Page) => boolean,
): AsyncGenerator<NumberedPage, void, void> {
  const first = await fetchNumbered(reading, 1)
  const size = effectiveSize(reading, first)
  let total = first.total ?? first.items.length
  let received = first.items.length
  let lastPage = lastPageOf(total, size)
  const ahead = prefetcher(reading)
  let previous = first
  let emptyPages = 0
  try {
    yield { number: 1, page: first, lastPage }
    for (let number = 2; number <= lastPage || received < total || previous.items.length >= size; number++) {
      if (number > lastPage * OVERRUN_FACTOR + OVERRUN_MARGIN) return
      const page = number > lastPage ? await fetchUnlessRefused(reading, number) : await ahead.take(number, lastPage)
      if ('refusal' in page) return
      total = Math.max(total, page.total ?? 0)
      lastPage = Math.max(lastPage, lastPageOf(total, size))
      if (number > lastPage && hasCome(page)) return
      emptyPages = page.items.length === 0 ? emptyPages + 1 : 0
      if (emptyPages === MOST_EMPTY_PAGES) return
      if (isSamePage(page, previous)) {
        if (number === 2 && page.total === first.total) throw pageIgnored(reading, page)
        continue
      }
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

/** `take`: the page of this number, in order; asks ahead up to `lastPage`. `stop` ends what is under way. */
function prefetcher(reading: PageReading) {
  const leaving = new AbortController()
  const underway: Promise<Page>[] = []
  let context: CallContext | undefined
  let share: PageShare | undefined
  const ask = (number: number) => {
    context ??= { ...reading.context, signal: AbortSignal.any([reading.context.signal, leaving.signal]) }
    const page = fetchNumbered({ ...reading, context }, number)
    // A page that fails while an earlier one is awaited is not unhandled: it is awaited in its turn, or in `stop`.
    page.catch(() => {})
    return page
  }
  return {
    take: async (number: number, lastPage: number): Promise<Page> => {
      share ??= await reading.readAhead.begin(lastPage)
      const end = Math.min(lastPage, number + share.pages() - 1)
      for (let next = number + underway.length; next <= end; next++) underway.push(ask(next))
      const page = underway.shift()
      assert(page !== undefined)
      try {
        return await page
      } finally {
        // Pages that have come are read one after the other: in between the places of others are to be filled again.
        await yieldToEventLoop()
      }
    },
    stop: async (): Promise<void> => {
      leaving.abort()
      share?.end()
      await Promise.allSettled(underway)
    },
  }
}

const LONG_PAGES = 10
const LONG_AT_ONCE = 3

/** @param most pages over all lists that are read at once */
export function createReadAhead(most: number): ReadAhead {
  const limitLong = pLimit(LONG_AT_ONCE)
  let lists = 0
  return {
    begin: async (pages) => {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>()
      if (pages > LONG_PAGES) {
        const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
        void limitLong(() => {
          begin()
          return ended
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
    },
  }
}
