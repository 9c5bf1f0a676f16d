import type { Row } from '../core/column.ts'
import type { Stream } from '../core/stream.ts'
import { textOf } from '../core/text-of.ts'

/** Characters in rows that are held until their slice is proven: one of 200 questions has up to 50,000. */
const MOST_HELD_TEXT = 8_000_000
/** What `sliceSize` may make of the pages of a slice whose rows are held. */
const HELD_FACTOR = 4

/**
 * How many pages a slice may have: fewer where its rows are held and are heavy, so that they fit into memory; it may be less than one.
 * @param readRows reads those of its first page, for what a page weighs
 */
export function pagesByText(
  { identity }: Pick<Stream, 'identity'>,
  pagesPerSlice: number,
  readRows: () => readonly Row[],
): number {
  if (identity === undefined) return pagesPerSlice
  const text = readRows().reduce((sum, row) => sum + textOf(row), 0)
  return text === 0 ? pagesPerSlice : Math.min(pagesPerSlice, MOST_HELD_TEXT / text / HELD_FACTOR)
}
