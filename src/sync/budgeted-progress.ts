import { isDeepStrictEqual } from 'node:util'
import type { Row } from '../core/column.ts'
import type { ItemReader, Page, RejectedItem } from '../core/page.ts'
import type { Stream } from '../core/stream.ts'
import type { OpenSlice } from '../ledger/open-slices.ts'
import { hashItem } from '../ledger/quarantine/quarantine.ts'
import { MAX_ROWS_UNCUT } from './read-pages.ts'
import type { Slice, WalkSummary } from './slice-work.ts'
import { duplicatesOf, freshestOf, rowKey, startWalk } from './walk.ts'
import { liesWithin } from './windows.ts'

/** The progress of a slice before its first page. */
export function beginSlice({ window, covers, backfillId }: Slice, startedAt: Date): OpenSlice {
  return {
    window: window ?? { from: 0, to: 0 },
    covers,
    backfillId,
    pagesRead: 0,
    pageSize: 0,
    keys: new Set(),
    lastPageKeys: [],
    foundRows: 0,
    quarantinedRows: 0,
    calls: 0,
    retries: 0,
    startedAt,
    readAt: startedAt,
    refused: undefined,
  }
}

/** The progress of a slice after one more page. */
export function addPage(before: OpenSlice, { stream }: Slice, page: ReadPage, timeZone: string): OpenSlice {
  const isNew = (index: number) => !before.keys.has(page.keys[index] ?? '')
  const newRows = page.rows.filter(
    (row, index) => isNew(index) && liesWithin(row, stream.timeColumns, before.window, timeZone),
  )
  return {
    ...before,
    pagesRead: before.pagesRead + 1,
    pageSize: Math.max(before.pageSize, page.items.length),
    keys: new Set([...before.keys, ...page.keys]),
    lastPageKeys: page.content,
    foundRows: before.foundRows + newRows.length,
    quarantinedRows: before.quarantinedRows + page.rejected.length,
    refused: before.refused && before.refused.page > before.pagesRead + 1 ? before.refused : undefined,
  }
}

/** Whether a page equals the last page that was read, in the same order, so that no row before its end has moved. */
export function isLastPage({ lastPageKeys }: OpenSlice, page: ReadPage): boolean {
  return isDeepStrictEqual(page.content, lastPageKeys)
}

/**
 * Decides whether the list ends with the last page, if the next one was refused on an earlier day or has nothing new.
 * Reads the position where the list would end, at the smaller page size that shows the most positions behind it. `end`:
 * that page has the last row and nothing new, and is not full. `more`: it has rows that had not come, or no size leaves
 * room behind the last row. `other`: it shows neither, as where the page parameter is ignored.
 * @param read reads a page by its number and size
 */
export async function judgeEnd(
  { pagesRead, pageSize, keys, lastPageKeys }: OpenSlice,
  read: (page: number, pageSize: number) => Promise<ReadPage>,
): Promise<'end' | 'more' | 'other'> {
  const rows = (pagesRead - 1) * pageSize + lastPageKeys.length
  // No page is smaller than one row, so a single row is taken for the whole list.
  if (rows === 1) return 'end'
  // The service may hide the last rows of a page, so the next ones may lie further behind.
  const shownBehind = (size: number) => (rows % size === 0 ? 0 : size - (rows % size))
  const sizes = Array.from({ length: Math.min(pageSize, rows) - 1 }, (_, index) => index + 1)
  const [size = 1] = sizes.toSorted((a, b) => shownBehind(b) - shownBehind(a))
  if (rows > MAX_ROWS_UNCUT && shownBehind(size) === 0) return 'more'
  const page = await read(Math.ceil(rows / size), size)
  if (page.keys.some((key) => !keys.has(key))) return 'more'
  const lastKey = lastPageKeys.findLast((key) => keys.has(key))
  const hasLast = lastKey === undefined || page.keys.includes(lastKey)
  return hasLast && page.items.length < Math.max(size, 2) ? 'end' : 'other'
}

/** A page whose items have been read into rows. */
export interface ReadPage extends Page, Pick<WalkSummary, 'degraded' | 'unknownFields' | 'absentFields'> {
  /** The freshest row of each key. */
  readonly rows: readonly Row[]
  /** Their keys, in the order of the page. */
  readonly keys: readonly string[]
  /** For each item of the page, in its order, the key of the row, or the hash of an unreadable item. */
  readonly content: readonly string[]
  /** Unreadable items, and rows whose key has a fresher one. */
  readonly rejected: readonly RejectedItem[]
}

/** Reads the items of a page. Nothing can move within one answer, so equal keys are real duplicates. */
export function readItems(stream: Stream, page: Page, readItem: ItemReader): ReadPage {
  const keyOf = rowKey(stream)
  const walk = startWalk(stream, readItem, { has: () => true })
  walk.add(page)
  const summary = walk.summary()
  const reads = page.items.map((item) => readItem(item, page))
  return {
    ...page,
    ...summary,
    content: reads.map((read) => (read.kind === 'row' ? keyOf(read.row) : `?${hashItem(read.raw)}`)),
    rows: freshestOf(stream, summary.heldBack),
    keys: [...summary.heldBack.keys()],
    rejected: [...summary.rejected, ...duplicatesOf(stream, summary.heldBack)],
  }
}
