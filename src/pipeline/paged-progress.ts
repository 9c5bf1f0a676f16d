import type { Page } from '../core/page.ts'
import { DAY, type WallTime } from '../core/wall-clock.ts'
import type { OpenSlice } from '../state/open-slices.ts'
import type { PageRows } from './page-rows.ts'
import { liesWithin } from './row-window.ts'
import type { Slice } from './slice-work.ts'

/**
 * Sizes that the service has as defaults or maxima (API 8): a first page of exactly so many items may be cut to that size, and is
 * not taken for a short one.
 */
const USUAL_SIZES: ReadonlySet<number> = new Set([10, 20, 50])
/** After so long without a page, the last one is looked at again before the next is asked for. */
const LONG_PAUSE_MS = 600_000
/** Ranges that ended longer ago rest: there no call is spent on that. */
const RESTING_DAYS = 365

/** A slice before its first page. */
export function beginSlice({ window, covers, backfillId }: Slice, startedAt: Date): OpenSlice {
  return {
    window: window ?? { from: 0, to: 0 },
    covers,
    backfillId,
    pagesRead: 0,
    pageSize: 0,
    keys: new Set(),
    lastPageKeys: [],
    receivedRows: 0,
    foundRows: 0,
    quarantinedRows: 0,
    calls: 0,
    retries: 0,
    moved: undefined,
    startedAt,
    readAt: startedAt,
  }
}

/** Whether `page` brings nothing further: it is empty, not there, or the last one again. */
export function isPastEnd({ pagesRead, lastPageKeys }: OpenSlice, page: Page | undefined, { keys }: PageRows): boolean {
  if (page === undefined || page.items.length === 0) return true
  return pagesRead > 0 && isSame(keys, lastPageKeys)
}

/** The slice after its next page; a key that has come before shows that the list has moved. */
export function addPage(
  before: OpenSlice,
  { stream }: Slice,
  { items }: Page,
  read: PageRows,
  timeZone: string,
): OpenSlice & { readonly isLast: boolean } {
  const number = before.pagesRead + 1
  const pageSize = number === 1 ? fullSize(items.length, stream.pageSize) : before.pageSize
  const again = read.keys.filter((key) => before.keys.has(key)).length
  const moved =
    again > 0
      ? `${again} rows of page ${number} had come before`
      : items.length > pageSize
        ? `page ${number} has ${items.length} rows, those before it had ${pageSize}`
        : undefined
  const after = withRows(before, stream, read, timeZone)
  return {
    ...after,
    pagesRead: number,
    pageSize,
    receivedRows: before.receivedRows + items.length,
    quarantinedRows: before.quarantinedRows + read.rejected.length,
    moved: before.moved ?? moved,
    isLast: items.length < pageSize,
  }
}

/** The slice after another look at its last page. */
export function lookAgain(before: OpenSlice, { stream }: Slice, read: PageRows, timeZone: string): OpenSlice {
  const isUnchanged = isSame(read.keys, before.lastPageKeys)
  const moved = isUnchanged ? undefined : `page ${before.pagesRead} changed between two days`
  return { ...withRows(before, stream, read, timeZone), moved: before.moved ?? moved }
}

/**
 * Whether the list may have moved since the last page was read: rows that go from the part that has been read draw others into it,
 * which no later page shows.
 */
export function mayHaveMoved({ window, readAt }: OpenSlice, nowMs: number, now: WallTime): boolean {
  return nowMs - readAt.getTime() >= LONG_PAUSE_MS && window.to > now - RESTING_DAYS * DAY
}

function withRows(before: OpenSlice, stream: Slice['stream'], read: PageRows, timeZone: string): OpenSlice {
  const isNew = (_: unknown, index: number) => !before.keys.has(read.keys[index] ?? '')
  const found = read.rows.filter(isNew).filter((row) => liesWithin(row, stream.timeColumns, before.window, timeZone))
  return {
    ...before,
    keys: new Set([...before.keys, ...read.keys]),
    lastPageKeys: read.keys,
    foundRows: before.foundRows + found.length,
  }
}

function fullSize(received: number, asked: number): number {
  return received > asked || USUAL_SIZES.has(received) ? received : asked
}

function isSame(keys: readonly string[], others: readonly string[]): boolean {
  const known = new Set(others)
  return keys.length > 0 && keys.length === others.length && keys.every((key) => known.has(key))
}
