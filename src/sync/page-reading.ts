import { hasCode, isFinalStatus, LivehouseError } from '../core/errors.ts'
import { jsonText } from '../core/text.ts'
import {
  type CallContext,
  describeList,
  type FetchPage,
  type ItemReader,
  type ListRequest,
  type Page,
} from '../core/page.ts'
import { placeOf, sliceName, widen, type Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { DAY, formatWallDate } from '../core/wall-clock.ts'
import { type EarlierReadings, readEarlier, readLastPageSizes, readMissedRows } from '../ledger/earlier-readings.ts'
import { itemReader } from '../transform/field.ts'
import { isReadTwice, newestAt, partUntil, settledAt } from './windows.ts'
import type { CallMeter, ReadAhead, RunDeps, Slice } from './slice-work.ts'

/** What every way of reading a slice begins with. */
export interface SliceReading {
  readonly pages: PageReading
  readonly readItem: ItemReader
  /** What the slice may claim to cover: nothing that a clock, also the service's, had not shown by its answer. */
  readonly covers: () => Window | undefined
  /** Page 1; what asks for it of this list next gets this one. */
  readonly firstPage: () => Promise<Page>
  /** What was there before it; asked once. */
  readonly earlier: () => Promise<EarlierReadings>
  readonly reportPage: (rows: number, totalPages: number | undefined) => void
}

/** Whether the filters include their ends is not shown: each request asks for this much more on both sides. */
const OVERLAP_SECONDS = 60

/** What goes on the wire for a slice; undefined for a walk over the whole list. */
export function askedOf({ window, asked }: Pick<Slice, 'window' | 'asked'>): Window | undefined {
  return asked ?? (window && widen(window, OVERLAP_SECONDS))
}

/**
 * A slice that may mark rows which an earlier reading missed, with a question for a day more on both sides, as far as
 * there is one; undefined for any other. A service may filter by another time than it shows, or in another zone: then
 * rows near the ends of a range do not come though they are there.
 */
export async function askWider(
  slice: Slice,
  { db, wallTimeAt, claimableMs }: Pick<RunDeps, 'db' | 'wallTimeAt' | 'claimableMs'>,
): Promise<Slice | undefined> {
  const { stream, window } = slice
  if (window === undefined || !stream.marksRemoved || (await readMissedRows(db, placeOf(slice))) === 0) return undefined
  const to = Math.max(window.to, Math.min(window.to + DAY, newestAt(wallTimeAt(claimableMs()))))
  return { ...slice, asked: widen({ from: window.from - DAY, to }, OVERLAP_SECONDS) }
}

/** @param pageSize how many rows of a page are asked for; the largest that the spec allows when not given */
export function openReading(
  slice: Slice,
  deps: RunDeps,
  meter: CallMeter,
  pageSize = slice.stream.pageSize,
): SliceReading {
  const { stream, partition, window } = slice
  const startedAtMs = deps.clock.now()
  const claimableMs = deps.claimableMs()
  let earlier: Promise<EarlierReadings> | undefined
  let first: Page | undefined
  let servedAtMs: number | undefined
  const pages: PageReading = {
    fetchPage: async (request, context) => {
      if (request.page === 1 && request.list === pages.list && first !== undefined) {
        const known = first
        first = undefined
        return known
      }
      const page = await deps.fetchPage(request, context)
      servedAtMs ??= page.serviceTimeMs
      return page
    },
    list: { stream, partition, window: askedOf(slice) },
    pageSize,
    readAhead: deps.readAhead,
    context: { signal: deps.signal, onAttempt: meter.onAttempt },
  }
  return {
    pages,
    readItem: itemReader(stream, { partition, serviceDay: formatWallDate(deps.wallTimeAt(startedAtMs)) }),
    covers: () => {
      const seenMs = Math.min(claimableMs, servedAtMs ?? claimableMs)
      return slice.covers && partUntil(slice.covers, settledAt(deps.wallTimeAt(seenMs)))
    },
    firstPage: async () => {
      first = await fetchNumbered(pages, 1)
      return first
    },
    earlier: async () => {
      earlier ??= readEarlier(deps.db, placeOf(slice), window === undefined)
      return await earlier
    },
    reportPage: (rows, totalPages) => {
      deps.report({ kind: 'page', stream: stream.name, slice: sliceName(slice), rows, totalPages })
    },
  }
}

/** On smaller pages a few rows that the service hides would be an empty page, which ends a list. */
export const FEWEST_ROWS = 10
/** No service serves so few rows a page where more are asked for: they are the whole list, whatever its total says. */
export const SURELY_ALL = 2

/**
 * How many rows of a page to ask for: every other time one less than the service has served, so that rows lie on other
 * pages, and what goes wrong at the borders of pages shows.
 */
export async function choosePageSize(slice: Slice, { db }: Pick<RunDeps, 'db'>): Promise<number> {
  const { stream, window } = slice
  if (window === undefined || !isReadTwice(stream)) return stream.pageSize
  const [last = 0, before = 0] = await readLastPageSizes(db, { ...placeOf(slice), window })
  return last < before || last <= FEWEST_ROWS ? stream.pageSize : Math.min(stream.pageSize, last - 1)
}

/** What reading the pages of one list takes. */
export interface PageReading {
  readonly fetchPage: FetchPage
  readonly list: ListRequest
  /** The largest page that the spec allows; where the service clamps it, what it sends decides. */
  readonly pageSize: number
  readonly readAhead: ReadAhead
  readonly context: CallContext
}

/** @param number from 1 */
export async function fetchNumbered(
  { fetchPage, list, pageSize, context }: PageReading,
  number: number,
): Promise<Page> {
  return await fetchPage({ list, page: number, pageSize }, context)
}

/** A page that the service does not serve, though it may be there. */
export interface RefusedPage {
  readonly refusal: unknown
}

/**
 * A page that need not be there, or why the service refuses it for good, as some do past the last page. That alone
 * tells nothing of where a list ends: a total shows it, or other pages.
 */
export async function fetchUnlessRefused(reading: PageReading, number: number): Promise<Page | RefusedPage> {
  try {
    return await fetchNumbered(reading, number)
  } catch (error) {
    if (isRefusal(error)) return { refusal: error }
    throw error
  }
}

/** Whether the service refuses for good what was asked. */
export function isRefusal(error: unknown): boolean {
  return isFinalStatus(error) || hasCode(error, 'api.refused')
}

/**
 * How many rows of a page to ask for where a list is read once more: fewer each time, by a sixteenth of those that the
 * service serves, so that rows lie on other pages. A service that sorts by what is not unique may leave it to each page
 * how equal rows stand: then some come on two pages and others on none, in the same way each time that it is asked so.
 *
 * @param attempt from 1
 */
export function sizeOfReading(served: number, attempt: number, fewest = 1): number {
  return Math.max(Math.min(served, fewest), served - Math.ceil(served / 16) * (attempt - 1))
}

/** How many items the largest of these pages holds: the service serves no fewer where more are asked for. */
export function largestPage(pages: readonly Page[]): number {
  return Math.max(...pages.map(({ items }) => items.length))
}

/**
 * An item by the fields that its stream declares, as text. By these alone are answers compared: what the spec does not
 * know may differ each time, such as the time of the answer.
 */
export function itemText({ columns, readItem }: Stream, item: unknown): string {
  if (readItem !== undefined || typeof item !== 'object' || item === null || Array.isArray(item)) return jsonText(item)
  const fields: Readonly<Record<string, unknown>> = Object(item)
  return jsonText(
    Object.values(columns).flatMap(({ source }) => (source.kind === 'field' ? [fields[source.field] ?? null] : [])),
  )
}

/** Whether two answers hold the same items in the same order. */
export function areSameItems(stream: Stream, items: readonly unknown[], others: readonly unknown[]): boolean {
  // The first ones differ on nearly every page: the others need not be looked at.
  return (
    items.length === others.length && items.every((item, at) => itemText(stream, item) === itemText(stream, others[at]))
  )
}

/** A page is an earlier one again. */
export function pageIgnored(
  { list }: PageReading,
  { items, echoedPage }: Page,
  number = 2,
  earlier = 1,
): LivehouseError {
  const call = describeList(list)
  const echo = echoedPage === undefined ? '' : `, and names it page ${echoedPage}`
  const evidence = `page ${number} holds the same ${items.length} items as page ${earlier}${echo}`
  return new LivehouseError(
    'paging.ignored',
    `${call}: the service ignores the page parameter: ${evidence}. ` +
      `Nothing beyond page ${earlier} can be read; ask the service's support.`,
    { call, parameter: 'page', evidence },
  )
}
