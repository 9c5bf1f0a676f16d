import { isSameJson } from '../core/is-same-json.ts'
import type { Page } from '../core/page.ts'
import type { SliceReading } from './open-reading.ts'
import { describeList, fetchPastEnd, type PageReading } from './page-reading.ts'
import { partOf } from './plan-again.ts'
import { cutWindow } from './plan-windows.ts'
import { requireFiltered } from './row-window.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** Where the source gives no total, into how many parts. */
const BLIND_PARTS = 4

/**
 * Looks at page 1 of a window, and for bare arrays at a far page, and cuts a large slice into as many parts as its total asks
 * for, newest first. @returns undefined for one that is small enough, or no longer than a minute
 * @throws LivehouseError `paging.ignored` when page 1 does not fit the window: then no part would be smaller
 */
export async function cutSlice(
  slice: Slice,
  reading: SliceReading,
  { pagesPerSlice, timeZone }: RunDeps,
): Promise<readonly Slice[] | undefined> {
  const { window, stream } = slice
  const { asked, pages, readItem } = reading
  if (window === undefined || asked === undefined) return undefined
  const first = await reading.firstPage()
  const windows = cutWindow(window, await countParts(slice, first, pages, pagesPerSlice))
  if (windows.length < 2) return undefined
  const read = first.items.map((item) => readItem(item, first))
  const rows = read.flatMap((each) => (each.kind === 'row' ? [each.row] : []))
  requireFiltered(describeList(pages.list), stream, rows, asked, timeZone)
  return windows.map((part) => partOf(slice, part))
}

async function countParts({ stream }: Slice, first: Page, pages: PageReading, most: number): Promise<number> {
  if (stream.isCounted) return Math.ceil((first.total ?? 0) / (most * stream.pageSize))
  if (first.items.length < stream.pageSize) return 1
  const far = await fetchPastEnd(pages, most + 1)
  if (far === undefined || far.items.length === 0) return 1
  // Past the end some services give the last page again: then the far page says nothing.
  const farther = await fetchPastEnd(pages, most + 2)
  return farther !== undefined && isSameJson(farther.items, far.items) ? 1 : BLIND_PARTS
}
