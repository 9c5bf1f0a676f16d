import { createHash } from 'node:crypto'
import type { Page } from '../core/page.ts'
import type { OpenSlice } from '../ledger/open-slices.ts'
import type { PageRows } from './page-rows.ts'
import { liesWithin } from './row-window.ts'
import type { Slice } from './slice-work.ts'

/** Refused on so many days in a row, it is not the day's calls that are spent: the slice is `failed`, and waits for all others. */
export const DAYS_UNTIL_FAILED = 3

/** A page, and what its items became. */
export type ReadPage = Page & PageRows

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
    foundRows: 0,
    quarantinedRows: 0,
    calls: 0,
    retries: 0,
    startedAt,
    readAt: startedAt,
    failedDays: 0,
    failedOn: undefined,
  }
}

/** The slice after its next page. */
export function addPage(before: OpenSlice, { stream }: Slice, page: ReadPage, timeZone: string): OpenSlice {
  const isFound = (index: number) => !before.keys.has(page.keys[index] ?? '')
  const found = page.rows.filter(
    (row, index) => isFound(index) && liesWithin(row, stream.timeColumns, before.window, timeZone),
  )
  return {
    ...before,
    pagesRead: before.pagesRead + 1,
    pageSize: Math.max(before.pageSize, page.items.length),
    keys: new Set([...before.keys, ...page.keys]),
    lastPageKeys: contentOf(page),
    foundRows: before.foundRows + found.length,
    quarantinedRows: before.quarantinedRows + page.rejected.length,
    failedDays: 0,
    failedOn: undefined,
  }
}

/** The slice after the service refused it or failed; `day`: the service's, `YYYY-MM-DD`. */
export function addFailure(before: OpenSlice, day: string): OpenSlice {
  return { ...before, failedDays: before.failedDays + Number(before.failedOn !== day), failedOn: day }
}

/** Whether a page holds what the last page held, in the same order: then nothing before its end has moved since. */
export function isLastPage({ lastPageKeys }: OpenSlice, page: ReadPage): boolean {
  const content = contentOf(page)
  return content.length === lastPageKeys.length && content.every((key, index) => key === lastPageKeys[index])
}

/** Keys in their order; what could not be read has none, and stands for itself. */
function contentOf({ keys, rejected }: PageRows): readonly string[] {
  return [...keys, ...rejected.map(({ raw }) => `?${createHash('sha256').update(raw).digest('hex')}`)]
}
