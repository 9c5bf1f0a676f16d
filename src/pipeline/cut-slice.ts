import type { SliceReading } from './open-reading.ts'
import { fetchPastEnd } from './page-reading.ts'
import { partOf } from './plan-again.ts'
import { cutWindow } from './plan-windows.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** Where the source gives no total, into how many parts. */
const BLIND_PARTS = 4

/**
 * Looks at page 1 of a window, and for bare arrays at a far page, and cuts a large slice into as many parts as its total asks
 * for, newest first. @returns undefined for one that is small enough, or no longer than a minute
 */
export async function cutSlice(
  slice: Slice,
  reading: SliceReading,
  { pagesPerSlice }: RunDeps,
): Promise<readonly Slice[] | undefined> {
  const { window } = slice
  if (window === undefined) return undefined
  const windows = cutWindow(window, await countParts(slice, reading, pagesPerSlice))
  if (windows.length < 2) return undefined
  return windows.map((part) => partOf(slice, part))
}

async function countParts({ stream }: Slice, { pages, firstPage }: SliceReading, most: number): Promise<number> {
  const first = await firstPage()
  if (stream.isCounted) return Math.ceil((first.total ?? 0) / (most * stream.pageSize))
  if (first.items.length < stream.pageSize) return 1
  const far = await fetchPastEnd(pages, most + 1)
  return far !== undefined && far.items.length > 0 ? BLIND_PARTS : 1
}
