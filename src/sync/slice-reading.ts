import type { Row } from '../core/column.ts'
import { hasCode, isFinalStatus } from '../core/errors.ts'
import type { FetchPage, ItemReader, Page } from '../core/page.ts'
import { placeOf, sliceName, type Window } from '../core/slice.ts'
import { DAY, floorToDay, formatWallDate, MINUTE, parseWallTime, type WallTime } from '../core/wall-clock.ts'
import { type EarlierReadings, readEarlierReadings } from '../ledger/slices/earlier-readings.ts'
import { itemReader } from '../transform/read-item.ts'
import type { RefusedPage, Requests, RunDeps, Slice } from './slice-work.ts'
import { rowsOf } from './walk.ts'
import { claimableUntil, filterIgnored, listUntil, MARGIN, minutesOf, partUntil, straysOf } from './windows.ts'

/** The reading of a slice, with all that it takes: the slice, its requests and what the run shares. */
export type SliceReading = ReturnType<typeof openReading>

/** Each request is longer by this on both sides, because the spec does not say whether filters include their ends. */
const OVERLAP_SECONDS = 60

/** The range to request for a slice or window; undefined for a whole list. */
export function widen({ window, requestWindow }: Pick<Slice, 'window' | 'requestWindow'>): Window | undefined {
  return requestWindow ?? (window && { from: window.from - OVERLAP_SECONDS, to: window.to + OVERLAP_SECONDS })
}

/** Opens the reading of a slice. @param pageSize the requested page size; by default the largest in the spec */
export function openReading(slice: Slice, deps: RunDeps, meter: CallMeter, pageSize = slice.stream.pageSize) {
  const { stream, partition, window } = slice
  const claimableMs = deps.claimableMs()
  const latest = deps.wallTimeAt(deps.clock.now())
  const readItem = itemReader(stream, { partition, serviceDay: formatWallDate(latest) })
  const { servedAtMs, ...opened } = openRequests(slice, deps, meter, pageSize, latest)
  const { requests } = opened
  let earlier: Promise<EarlierReadings> | undefined
  return {
    ...opened,
    ...createFilterCheck(slice, requests, latest, readItem, deps),
    slice,
    deps,
    readItem,
    meter,
    /** The range that the slice may claim to cover: nothing later than either clock when the service answered. */
    claimed: (): Window | undefined => {
      const seenMs = Math.min(claimableMs, servedAtMs() ?? claimableMs)
      return slice.covers && partUntil(slice.covers, claimableUntil(deps.wallTimeAt(seenMs)))
    },
    /** The same slice with a request for all rows, if the service's totals count all rows and so many can be read. */
    widenToAll: async (total: number): Promise<Slice | undefined> => {
      if (await areTotalsOfRange(requests)) return undefined
      const requestWindow = { from: BEFORE_ALL.from, to: latest }
      const last = await fetchUnlessRefused(ofRange(requests, requestWindow), Math.ceil(total / pageSize))
      return 'refusal' in last || last.items.length === 0 ? undefined : { ...slice, requestWindow }
    },
    /** What the ledger records of earlier readings. It is read once. */
    earlier: async (): Promise<EarlierReadings> => {
      earlier ??= readEarlierReadings(deps.db, placeOf(slice), window === undefined)
      return await earlier
    },
    reportPage: (rows: number, totalPages: number | undefined): void => {
      deps.report({ kind: 'page', stream: stream.name, slice: sliceName(slice), rows, totalPages })
    },
  }
}

/** The requests of a reading. Ranges end at `latest` if the service is known to serve none that end in the future. */
function openRequests(slice: Slice, deps: RunDeps, { onAttempt }: CallMeter, pageSize: number, latest: WallTime) {
  const { stream, partition } = slice
  let first: { readonly page: Page; readonly pageSize: number } | undefined
  let servedAtMs: number | undefined
  /** Applies to all requests of this reading, even if other readings learn more meanwhile. */
  const endsNow = stream.timeColumns.length === 1 || deps.rangeEnds.get(stream.name) === 'now'
  const requests: Requests = {
    fetchPage: async (request, context) => {
      if (request.page === 1 && request.list === requests.list && request.pageSize === first?.pageSize) {
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
    context: { signal: deps.signal, onAttempt },
  }
  return {
    requests,
    /** When the service sent its first answer, by its own clock; undefined if it did not say. */
    servedAtMs: () => servedAtMs,
    /**
     * Whether a range that ends in the future and was refused, or returned nothing, has at least `fewest` rows if it
     * ends now. If so, all ranges of the stream end now in this run. Visits have no other reason to end now, because
     * one that is still open may end after the reading began.
     */
    mustEndNow: async (from: WallTime, fewest: number): Promise<boolean> => {
      const { to = 0 } = requests.list.window ?? {}
      if (to <= latest || endsNow || deps.rangeEnds.get(stream.name) === 'later') return false
      const page = await fetchUnlessRefused(ofRange(requests, { from, to: Math.max(from, latest) }), 1)
      if ('refusal' in page || page.items.length < fewest) return false
      deps.rangeEnds.set(stream.name, 'now')
      return true
    },
    /** Fetches page 1, and keeps it for the next request for it. */
    firstPage: async (): Promise<Page> => {
      first = { page: await fetchByNumber(requests, 1), pageSize }
      return first.page
    },
    /** @returns this page size if the service accepts it, or else a named one: the largest in the second attempt */
    tryPageSize: async (size: number, attempt: number): Promise<number> => {
      const page = await fetchUnlessRefused({ ...requests, pageSize: size }, 1)
      if ('refusal' in page) {
        const sizes = NAMED_SIZES.filter((each) => each < pageSize)
        return sizes[attempt - 2] ?? sizes.at(-1) ?? pageSize
      }
      first = { page, pageSize: size }
      return size
    },
  }
}

/** Checks that the service filters by the requested range, and remembers how. */
function createFilterCheck(slice: Slice, requests: Requests, latest: WallTime, readItem: ItemReader, deps: RunDeps) {
  const { stream, window } = slice
  // What is known of the service: whether it filters by whole days, and whether by a time that rows do not show.
  let filtersByDay = false
  let filtersByOtherTime = false
  return {
    /**
     * Fails if most rows of a page lie outside of the requested range. All rows of its first and last day are accepted
     * if the service filters by whole days (not checked if calls are few, as rows with an id do no harm), and all rows
     * with an id if it filters by another time. @throws LivehouseError `paging.ignored`
     */
    requireFiltered: async (rows: readonly Row[]): Promise<void> => {
      if (window === undefined || filtersByOtherTime) return
      const strays = (byDay: boolean) => straysOf(requests.list, rows, deps.timeZone, byDay)
      if (strays(filtersByDay).length === 0) return
      const mayAsk = stream.isBudgeted !== true
      const mayBeByDay = !filtersByDay && strays(true).length === 0
      if (mayBeByDay && (!mayAsk || (await comesByMinute(rows, requests, readItem, deps.timeZone)))) filtersByDay = true
      else if (mayAsk && stream.identity === undefined && (await isByOtherTime(requests, latest, deps.fetchPage)))
        filtersByOtherTime = true
      else throw filterIgnored(requests.list, strays(filtersByDay), rows.length)
    },
    /** Whether parts of the slice would be as large as the slice: the service filters by days, and it lies in one. */
    isOneDay: (): boolean => filtersByDay && window !== undefined && floorToDay(window.to - 1) <= window.from,
  }
}

/** Whether a request for the minute of the first stray row returns it, or returns its day in the order of time. */
async function comesByMinute(rows: readonly Row[], requests: Requests, readItem: ItemReader, timeZone: string) {
  const { stream, window: { from, to } = { from: 0, to: 0 } } = requests.list
  const at = minutesOf(rows, stream, timeZone).find((each) => each < from || each > to) ?? 0
  const minute = widen({ window: { from: at, to: at + MINUTE } })
  const page = await fetchUnlessRefused(ofRange(requests, minute), 1)
  const minutes = minutesOf('refusal' in page ? [] : rowsOf(page, readItem), stream, timeZone)
  const span = (minutes.at(-1) ?? 0) - (minutes[0] ?? 0)
  const isOfDay = Math.abs(span) > 2 * MARGIN && minutes.every((each) => floorToDay(each) === floorToDay(at))
  return minutes.includes(at) || (isOfDay && minutes.toSorted((a, b) => (a - b) * span).join() === minutes.join())
}

/**
 * Whether the service filters by a time that rows do not show, such as when they were written. It must then count none
 * of long ago, and have none of the future (as in another time zone).
 */
async function isByOtherTime(requests: Requests, latest: WallTime, fetchPage: FetchPage): Promise<boolean> {
  if (!(await areTotalsOfRange(requests))) return false
  const later = { from: latest + 2 * MINUTE, to: latest + 2 * DAY }
  const page = await fetchUnlessRefused(ofRange({ ...requests, fetchPage }, later), 1)
  return !('refusal' in page) && page.items.length === 0
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

/** The requests for another range of the same list. */
export function ofRange(requests: Requests, window: Window | undefined): Requests {
  return { ...requests, list: { ...requests.list, window } }
}

/** Fetches a page of a list. @param number from 1 */
export async function fetchByNumber(requests: Requests, number: number): Promise<Page> {
  const { fetchPage, list, pageSize, context } = requests
  return await fetchPage({ list, page: number, pageSize }, context)
}

/**
 * Fetches a page that may not exist. Returns the refusal if the service refuses it, as some do behind the last page. A
 * refusal alone does not show that a list has ended; its total or other pages do.
 */
export async function fetchUnlessRefused(
  requests: Requests,
  number: number,
  isRefused: (error: unknown) => boolean = isRefusal,
): Promise<Page | RefusedPage> {
  try {
    return await fetchByNumber(requests, number)
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
export async function areTotalsOfRange(requests: Requests): Promise<boolean> {
  try {
    return (await countIn(BEFORE_ALL, requests)) === 0
  } catch (error) {
    // Some services refuse such an early range, or fail.
    if (requests.context.signal.aborted) throw error
    return true
  }
}

/** The service's total of exactly this range. */
export async function countIn(window: Window | undefined, requests: Requests): Promise<number> {
  return (await fetchByNumber({ ...ofRange(requests, window), pageSize: MIN_ROWS }, 1)).total ?? 0
}
