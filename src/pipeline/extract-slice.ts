import assert from 'node:assert/strict'
import type { BatchLoader } from './batch-loader.ts'
import { SHORTEST_WINDOW } from './choose-bounds.ts'
import { cutSlice } from './cut-slice.ts'
import { extractKeyed } from './extract-keyed.ts'
import { extractUnkeyed } from './extract-unkeyed.ts'
import type { Extraction } from './extraction.ts'
import type { SliceReading } from './open-reading.ts'
import { sliceSize } from './slice-size.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** What became of a slice: it was read, or it was too large and is parts, of which nothing has been read. */
export type Extracted =
  | { readonly kind: 'read'; readonly extraction: Extraction }
  | { readonly kind: 'cut'; readonly parts: readonly Slice[] }

/** Reads the rows of a slice, or cuts it where it is large: before it is read, or where reading shows that it is after all. */
export async function extractSlice(
  slice: Slice,
  reading: SliceReading,
  deps: RunDeps,
  loader: BatchLoader,
): Promise<Extracted> {
  const { stream, window } = slice
  const parts = await cutSlice(slice, reading, deps)
  if (parts) return { kind: 'cut', parts }
  const { identity } = stream
  if (identity === undefined) return { kind: 'read', extraction: await extractKeyed(slice, reading, deps, loader) }

  const isTooLong = (pages: number, size: number) => pages > sliceSize(stream, size, deps.pagesPerSlice).most
  const mayBeCut = window !== undefined && window.to - window.from > SHORTEST_WINDOW
  const extraction = await extractUnkeyed(slice, identity, reading, deps, loader, mayBeCut ? isTooLong : undefined)
  if (extraction) return { kind: 'read', extraction }
  const more = await cutSlice(slice, reading, deps, true)
  if (more) return { kind: 'cut', parts: more }
  // Its rows lie too close together: all of them have to be held.
  const whole = await extractUnkeyed(slice, identity, reading, deps, loader)
  assert(whole !== undefined)
  return { kind: 'read', extraction: whole }
}
