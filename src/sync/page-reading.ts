import type { Row } from '../core/column.ts'
import { hasCode, isFinalStatus } from '../core/errors.ts'
import type { CallContext, FetchPage, ItemReader, ListRequest, Page } from '../core/page.ts'
import { placeOf, sliceName, type Window } from '../core/slice.ts'
import { DAY, floorToDay, formatWallDate, MINUTE, parseWallTime, type WallTime } from '../core/wall-clock.ts'
import { type EarlierReadings, readEarlier } from '../ledger/slices/earlier-readings.ts'
import { itemReader } from '../transform/read-item.ts'
import type { ReadAhead, RunDeps, Slice } from './slice-work.ts'
import { claimableUntil, filterIgnored, GAP, listUntil, minutesWithin, partUntil, straysOf } from './windows.ts'

/** A slice that is being read. */
export type SliceReading = ReturnType<typeof openReading>

/** The spec does not say whether filters include their ends: each request asks for this much more on both sides. */
const OVERLAP_SECONDS = 60

/** The range that is asked for; undefined for a walk over the whole list. */
export function askedOf({ window, asked }: Pick<Slice, 'window' | 'asked'>): Window | undefined {
  return asked ?? (window && { from: window.from - OVERLAP_SECONDS, to: window.to + OVERLAP_SECONDS })
}

/** @param pageSize how many rows of a page are asked for; the largest that the spec allows when not given */
export function openReading(slice: Slice, deps: RunDeps, meter: CallMeter, pageSize = slice.stream.pageSize) {
  const { stream, partition, window } = slice
  const claimableMs = deps.claimableMs()
  let earlier: Promise<EarlierReadings> | undefined
  let first: { readonly page: Page; readonly pageSize: number } | undefined
  let servedAtMs: number | undefined
  /** Whether the service is known to go by the days of a range's ends. */
  let isByDay = false
  /** Whether it is known to filter, by another time than those that rows show. */
  let isByOther = false
  const latest = deps.wallTimeAt(deps.clock.now())
  /** Of all its requests, whatever other readings find out meanwhile. */
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
    list: { stream, partition, window: askedOf(slice) },
    pageSize,
    readAhead: deps.readAhead,
    context: { signal: deps.signal, onAttempt: meter.onAttempt },
  }
  /** Whether the first of these rows that was not asked for comes where its minute is, or its day in order. */
  const comesByItsMinute = async (rows: readonly Row[]): Promise<boolean> => {
    const { from, to } = pages.list.window ?? { from: 0, to: 0 }
    const minutesOf = (those: readonly Row[]) => minutesWithin({ from: 0, to: Infinity }, those, stream, deps.timeZone)
    const at = minutesOf(rows).find((each) => each < from || each > to) ?? 0
    const list = { ...pages.list, window: askedOf({ window: { from: at, to: at + MINUTE } }) }
    const page = await fetchUnlessRefused({ ...pages, list }, 1)
    const minutes = minutesOf('refusal' in page ? [] : rowsOf(page, readItem))
    const span = (minutes.at(-1) ?? 0) - (minutes[0] ?? 0)
    const isOfDay = Math.abs(span) > 2 * GAP && minutes.every((each) => floorToDay(each) === floorToDay(at))
    return minutes.includes(at) || (isOfDay && minutes.toSorted((a, b) => (a - b) * span).join() === minutes.join())
  }
  const isNothingLater = async (): Promise<boolean> => {
    const later = { from: latest + 2 * MINUTE, to: latest + 2 * DAY }
    const asked = { ...pages, fetchPage: deps.fetchPage, list: { ...pages.list, window: later } }
    const page = await fetchUnlessRefused(asked, 1)
    return !('refusal' in page) && page.items.length === 0
  }
  return {
    pages,
    readItem,
    meter,
    /** What the slice may claim to cover: nothing later than what each clock showed when the service answered. */
    covers: (): Window | undefined => {
      const seenMs = Math.min(claimableMs, servedAtMs ?? claimableMs)
      return slice.covers && partUntil(slice.covers, claimableUntil(deps.wallTimeAt(seenMs)))
    },
    /**
     * Where a range that ends in the future was refused, or nothing came of it: whether rows come, `fewest` or more, if
     * it ends now. Then all ranges of the stream do in this run. Of visits only then: whoever is still there may leave
     * later than the reading began.
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
    /** The same slice, asked for with all rows up to now where the service's totals are of all and as many may come. */
    askAll: async (total: number): Promise<Slice | undefined> => {
      if (await isOfRange(pages)) return undefined
      const asked = { from: BEFORE_ALL.from, to: latest }
      const list = { ...pages.list, window: asked }
      const last = await fetchUnlessRefused({ ...pages, list }, Math.ceil(total / pageSize))
      return 'refusal' in last || last.items.length === 0 ? undefined : { ...slice, asked }
    },
    /** Asks for page 1, and keeps it for the next time that it is fetched. */
    firstPage: async (): Promise<Page> => {
      first = { page: await fetchNumbered(pages, 1), pageSize: pages.pageSize }
      return first.page
    },
    /** @returns this page size if the service takes it, else one that the interface names, another in each attempt */
    tryPageSize: async (size: number, attempt: number): Promise<number> => {
      const page = await fetchUnlessRefused({ ...pages, pageSize: size }, 1)
      if ('refusal' in page) {
        const named = NAMED_SIZES.filter((each) => each < pageSize)
        return named[attempt - 2] ?? named.at(-1) ?? pageSize
      }
      first = { page, pageSize: size }
      return size
    },
    /** What the ledger knows of earlier readings; read once. */
    earlier: async (): Promise<EarlierReadings> => {
      earlier ??= readEarlier(deps.db, placeOf(slice), window === undefined)
      return await earlier
    },
    /**
     * Refuses a page of which most rows lie outside of what was asked for. Where the service goes by days, they may be
     * of the days of its ends: then such a row comes when its own minute is asked for (not where calls are few: with an
     * id it does no harm). Rows with an id may be filtered by a time that is not shown, such as when they were written:
     * then it counts none of long ago, and none later than now, as it would by a clock of another zone.
     * @throws LivehouseError `paging.ignored`
     */
    requireFiltered: async (rows: readonly Row[]): Promise<void> => {
      if (window === undefined || isByOther) return
      const strays = (byDay: boolean) => straysOf(pages.list, rows, deps.timeZone, byDay)
      if (strays(isByDay).length === 0) return
      const mayAsk = stream.isBudgeted !== true
      if (!isByDay && strays(true).length === 0 && (!mayAsk || (await comesByItsMinute(rows)))) isByDay = true
      else if (mayAsk && stream.identity === undefined && (await isOfRange(pages)) && (await isNothingLater()))
        isByOther = true
      else throw filterIgnored(pages.list, strays(isByDay), rows.length)
    },
    /** Whether parts of it would be as large as it is: the service goes by days, and it lies in one. */
    isOneDay: (): boolean => isByDay && window !== undefined && floorToDay(window.to - 1) <= window.from,
    reportPage: (rows: number, totalPages: number | undefined): void => {
      deps.report({ kind: 'page', stream: stream.name, slice: sliceName(slice), rows, totalPages })
    },
  }
}

/** The rows of a page that can be read. */
export function rowsOf(page: Page, readItem: ItemReader): readonly Row[] {
  return page.items.flatMap((item) => {
    const read = readItem(item, page)
    return read.kind === 'row' ? [read.row] : []
  })
}

/** Some services fail at a page behind the last one: that is no more an end than a refusal, and is judged like one. */
export function isRefusedPage(error: unknown): boolean {
  return isRefusal(error) || (hasCode(error, 'api.status') && error.details.status >= 500)
}

/** Counts what a slice asks of the service. */
export type CallMeter = ReturnType<typeof createCallMeter>

export function createCallMeter() {
  let calls = 0
  let retries = 0
  return {
    onAttempt: (attempt: number): void => {
      calls++
      if (attempt > 1) retries++
    },
    /** Every attempt that went out, and those after the first of a call. */
    counts: () => ({ calls, retries }),
  }
}

/** The smallest page: a few rows that the service hides could leave a smaller one empty, which ends a list. */
export const FEWEST_ROWS = 10
/** Page sizes that the interface names, beside the largest (API 8): some services take no other. */
export const NAMED_SIZES: readonly number[] = [50, 20, FEWEST_ROWS]
/** No service serves pages of so few rows where more are asked for: so few are the whole list, whatever its total. */
export const MOST_ROWS_UNCUT = 2

/** How the pages of one list are read. */
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
 * A page that need not be there, or why the service refuses it for good, as some do past the last page. A refusal alone
 * does not show where a list ends: a total does, or other pages.
 */
export async function fetchUnlessRefused(
  reading: PageReading,
  number: number,
  isRefused: (error: unknown) => boolean = isRefusal,
): Promise<Page | RefusedPage> {
  try {
    return await fetchNumbered(reading, number)
  } catch (error) {
    if (isRefused(error)) return { refusal: error }
    throw error
  }
}

/** Whether the service refuses a request, and would each time. */
export function isRefusal(error: unknown): boolean {
  return isFinalStatus(error) || hasCode(error, 'api.refused')
}

/** No channel is so old. */
const BEFORE_ALL = { from: parseWallTime('2000-01-01 00:00:00') ?? 0, to: parseWallTime('2000-01-01 00:01:00') ?? 0 }

/** Whether the service's totals are of the range that is asked for, and not of all that the channel has. */
export async function isOfRange(pages: PageReading): Promise<boolean> {
  try {
    return (await countIn(BEFORE_ALL, pages)) === 0
  } catch (error) {
    // Some services serve no time that is so long ago, or fail at it.
    if (pages.context.signal.aborted) throw error
    return true
  }
}

/** The service's total of a range, asked for as it is. */
export async function countIn(window: Window | undefined, pages: PageReading): Promise<number> {
  const list = { stream: pages.list.stream, partition: pages.list.partition, window }
  return (await fetchNumbered({ ...pages, pageSize: FEWEST_ROWS, list }, 1)).total ?? 0
}
