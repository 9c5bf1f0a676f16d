import type { Row } from '../core/column.ts'
import { hasCode, isFinalStatus } from '../core/errors.ts'
import type { CallContext, FetchPage, ItemReader, ListRequest, Page } from '../core/page.ts'
import { placeOf, sliceName, type Window } from '../core/slice.ts'
import { DAY, floorToDay, formatWallDate, MINUTE, parseWallTime, type WallTime } from '../core/wall-clock.ts'
import { type EarlierReadings, readEarlierReadings } from '../ledger/slices/earlier-readings.ts'
import { itemReader } from '../transform/read-item.ts'
import type { ReadAhead, RunDeps, Slice } from './slice-work.ts'
import { claimableUntil, filterIgnored, GAP, listUntil, minutesWithin, partUntil, straysOf } from './windows.ts'

/** The reading of a slice. */
export type SliceReading = ReturnType<typeof openReading>

/** Each request is longer by this on both sides, because the spec does not say whether filters include their ends. */
const OVERLAP_SECONDS = 60

/** The range to request for a slice or window; undefined for a walk over the whole list. */
export function widen({ window, requestWindow }: Pick<Slice, 'window' | 'requestWindow'>): Window | undefined {
  return requestWindow ?? (window && { from: window.from - OVERLAP_SECONDS, to: window.to + OVERLAP_SECONDS })
}

/** Opens the reading of a slice. @param pageSize the requested page size; by default the largest in the spec */
export function openReading(slice: Slice, deps: RunDeps, meter: CallMeter, pageSize = slice.stream.pageSize) {
  const { stream, partition, window } = slice
  const claimableMs = deps.claimableMs()
  let earlier: Promise<EarlierReadings> | undefined
  let first: { readonly page: Page; readonly pageSize: number } | undefined
  let servedAtMs: number | undefined
  /** Whether the service is known to filter by whole days. */
  let filtersByDay = false
  /** Whether the service is known to filter by a time that rows do not show. */
  let filtersByOtherTime = false
  const latest = deps.wallTimeAt(deps.clock.now())
  /** Applies to all requests of this reading, even if other readings learn more meanwhile. */
  const endsNow = stream.timeColumns.length === 1 || deps.rangeEnds.get(stream.name) === 'now'
  const readItem = itemReader(stream, { partition, serviceDay: formatWallDate(latest) })
  const pages: PageReading = {
    fetchPage: async (request, context) => {
      if (request.page === 1 && request.list === pages.list && request.pageSize === first?.pageSize) {
        const { page } = first
        first = undefined
        return page
      }
      const list = endsNow ? listUntil(request.list, latest) : request.list
      const page = await deps.fetchPage({ ...request, list }, context)
      const isToCome = list.window && list.window.to > deps.wallTimeAt(deps.clock.now())
      if (isToCome && page.items.length > 0) deps.rangeEnds.set(stream.name, 'later')
      servedAtMs ??= page.serviceTimeMs
      return page
    },
    list: { stream, partition, window: widen(slice) },
    pageSize,
    readAhead: deps.readAhead,
    context: { signal: deps.signal, onAttempt: meter.onAttempt },
  }
  /** Whether a request for the minute of the first stray row returns it, or returns its day in the order of time. */
  const strayComesByMinute = async (rows: readonly Row[]): Promise<boolean> => {
    const { from, to } = pages.list.window ?? { from: 0, to: 0 }
    const minutesOf = (those: readonly Row[]) => minutesWithin({ from: 0, to: Infinity }, those, stream, deps.timeZone)
    const at = minutesOf(rows).find((each) => each < from || each > to) ?? 0
    const list = { ...pages.list, window: widen({ window: { from: at, to: at + MINUTE } }) }
    const page = await fetchUnlessRefused({ ...pages, list }, 1)
    const minutes = minutesOf('refusal' in page ? [] : rowsOf(page, readItem))
    const span = (minutes.at(-1) ?? 0) - (minutes[0] ?? 0)
    const isOfDay = Math.abs(span) > 2 * GAP && minutes.every((each) => floorToDay(each) === floorToDay(at))
    return minutes.includes(at) || (isOfDay && minutes.toSorted((a, b) => (a - b) * span).join() === minutes.join())
  }
  const isFutureEmpty = async (): Promise<boolean> => {
    const later = { from: latest + 2 * MINUTE, to: latest + 2 * DAY }
    const future = { ...pages, fetchPage: deps.fetchPage, list: { ...pages.list, window: later } }
    const page = await fetchUnlessRefused(future, 1)
    return !('refusal' in page) && page.items.length === 0
  }
  return {
    pages,
    readItem,
    meter,
    /** The range that the slice may claim to cover: nothing later than either clock when the service answered. */
    covers: (): Window | undefined => {
      const seenMs = Math.min(claimableMs, servedAtMs ?? claimableMs)
      return slice.covers && partUntil(slice.covers, claimableUntil(deps.wallTimeAt(seenMs)))
    },
    /**
     * Whether a range that ends in the future and was refused, or returned nothing, has at least `fewest` rows if it
     * ends now. If so, all ranges of the stream end now in this run. Visits have no other reason to end now, because
     * one that is still open may end after the reading began.
     */
    mustEndNow: async (from: WallTime, fewest: number): Promise<boolean> => {
      const { to = 0 } = pages.list.window ?? {}
      if (to <= latest || endsNow || deps.rangeEnds.get(stream.name) === 'later') return false
      const list = listUntil({ ...pages.list, window: { from, to } }, latest)
      const page = await fetchUnlessRefused({ ...pages, list }, 1)
      if ('refusal' in page || page.items.length < fewest) return false
      deps.rangeEnds.set(stream.name, 'now')
      return true
    },
    /** The same slice with a request for all rows, if the service's totals count all rows and so many can be read. */
    widenToAll: async (total: number): Promise<Slice | undefined> => {
      if (await isOfRange(pages)) return undefined
      const requestWindow = { from: BEFORE_ALL.from, to: latest }
      const list = { ...pages.list, window: requestWindow }
      const last = await fetchUnlessRefused({ ...pages, list }, Math.ceil(total / pageSize))
      return 'refusal' in last || last.items.length === 0 ? undefined : { ...slice, requestWindow }
    },
    /** Fetches page 1, and keeps it for the next request for it. */
    firstPage: async (): Promise<Page> => {
      first = { page: await fetchByNumber(pages, 1), pageSize: pages.pageSize }
      return first.page
    },
    /** @returns this page size if the service accepts it, or else a named one: the largest in the second attempt */
    tryPageSize: async (size: number, attempt: number): Promise<number> => {
      const page = await fetchUnlessRefused({ ...pages, pageSize: size }, 1)
      if ('refusal' in page) {
        const sizes = NAMED_SIZES.filter((each) => each < pageSize)
        return sizes[attempt - 2] ?? sizes.at(-1) ?? pageSize
      }
      first = { page, pageSize: size }
      return size
    },
    /** What the ledger records of earlier readings. It is read once. */
    earlier: async (): Promise<EarlierReadings> => {
      earlier ??= readEarlierReadings(deps.db, placeOf(slice), window === undefined)
      return await earlier
    },
    /**
     * Fails if most rows of a page lie outside of the requested range. If the service filters by whole days, all rows
     * of its first and last day are accepted, if one comes when its own minute is requested (not checked if calls are
     * few, as rows with an id do no harm). Rows with an id may also be filtered by a time that they do not show, such
     * as when they were written. It must then count no rows of long ago, nor of the future (as in another time zone).
     * @throws LivehouseError `paging.ignored`
     */
    requireFiltered: async (rows: readonly Row[]): Promise<void> => {
      if (window === undefined || filtersByOtherTime) return
      const strays = (byDay: boolean) => straysOf(pages.list, rows, deps.timeZone, byDay)
      if (strays(filtersByDay).length === 0) return
      const mayAsk = stream.isBudgeted !== true
      if (!filtersByDay && strays(true).length === 0 && (!mayAsk || (await strayComesByMinute(rows))))
        filtersByDay = true
      else if (mayAsk && stream.identity === undefined && (await isOfRange(pages)) && (await isFutureEmpty()))
        filtersByOtherTime = true
      else throw filterIgnored(pages.list, strays(filtersByDay), rows.length)
    },
    /** Whether parts of the slice would be as large as the slice: the service filters by days, and it lies in one. */
    isOneDay: (): boolean => filtersByDay && window !== undefined && floorToDay(window.to - 1) <= window.from,
    reportPage: (rows: number, totalPages: number | undefined): void => {
      deps.report({ kind: 'page', stream: stream.name, slice: sliceName(slice), rows, totalPages })
    },
  }
}

/** The readable rows of a page. */
export function rowsOf(page: Page, readItem: ItemReader): readonly Row[] {
  return page.items.flatMap((item) => {
    const read = readItem(item, page)
    return read.kind === 'row' ? [read.row] : []
  })
}

/** Whether a page is refused, or fails, as it does at some services behind the last page. Neither proves an end. */
export function isRefusedPage(error: unknown): boolean {
  return isRefusal(error) || (hasCode(error, 'api.status') && error.details.status >= 500)
}

/** Counts the calls of a slice. */
export type CallMeter = ReturnType<typeof createCallMeter>

export function createCallMeter() {
  let calls = 0
  let retries = 0
  return {
    onAttempt: (attempt: number): void => {
      calls++
      if (attempt > 1) retries++
    },
    /** `calls` counts all attempts; `retries` counts those after the first attempt of a call. */
    counts: () => ({ calls, retries }),
  }
}

/** The smallest page size. A smaller page could be empty because the service hides its rows, and so end a list. */
export const MIN_ROWS = 10
/** Page sizes that the interface names, other than the largest (API 8). Some services accept only these. */
export const NAMED_SIZES: readonly number[] = [50, 20, MIN_ROWS]
/** No service clamps pages to this few rows, so they are the whole list, whatever its total. */
export const MAX_ROWS_UNCUT = 2

/** How to read the pages of a list. */
export interface PageReading {
  readonly fetchPage: FetchPage
  readonly list: ListRequest
  /** The requested page size. The service may clamp it. */
  readonly pageSize: number
  readonly readAhead: ReadAhead
  readonly context: CallContext
}

/** Fetches a page of a list. @param number from 1 */
export async function fetchByNumber(
  { fetchPage, list, pageSize, context }: PageReading,
  number: number,
): Promise<Page> {
  return await fetchPage({ list, page: number, pageSize }, context)
}

/** A page that the service refuses, although it may exist. */
export interface RefusedPage {
  readonly refusal: unknown
}

/**
 * Fetches a page that may not exist. Returns the refusal if the service refuses it, as some do behind the last page. A
 * refusal alone does not show that a list has ended; its total or other pages do.
 */
export async function fetchUnlessRefused(
  reading: PageReading,
  number: number,
  isRefused: (error: unknown) => boolean = isRefusal,
): Promise<Page | RefusedPage> {
  try {
    return await fetchByNumber(reading, number)
  } catch (error) {
    if (isRefused(error)) return { refusal: error }
    throw error
  }
}

/** Whether the service refused a request and would refuse it again. */
export function isRefusal(error: unknown): boolean {
  return isFinalStatus(error) || hasCode(error, 'api.refused')
}

/** No channel is this old. */
const BEFORE_ALL = { from: parseWallTime('2000-01-01 00:00:00') ?? 0, to: parseWallTime('2000-01-01 00:01:00') ?? 0 }

/** Whether the service's totals count the requested range, and not all rows of the channel. */
export async function isOfRange(pages: PageReading): Promise<boolean> {
  try {
    return (await countIn(BEFORE_ALL, pages)) === 0
  } catch (error) {
    // Some services refuse such an early range, or fail.
    if (pages.context.signal.aborted) throw error
    return true
  }
}

/** The service's total of exactly this range. */
export async function countIn(window: Window | undefined, pages: PageReading): Promise<number> {
  const list = { stream: pages.list.stream, partition: pages.list.partition, window }
  return (await fetchByNumber({ ...pages, pageSize: MIN_ROWS, list }, 1)).total ?? 0
}
