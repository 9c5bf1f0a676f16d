import assert from 'node:assert/strict'
import type { BatchLoader } from './batch-loader.ts'
import { SHORTEST_WINDOW } from './choose-bounds.ts'
import { cutSlice, halveSlice } from './cut-slice.ts'
import { extractKeyed } from './extract-keyed.ts'
import { extractUnkeyed } from './extract-unkeyed.ts'
import { type Extraction, MOST_READINGS } from './extraction.ts'
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
  const read = await extractUnkeyed(slice, identity, reading, deps, loader, mayBeCut ? isTooLong : undefined)
  // What is younger than settle may move: it is read again next time, and nothing is claimed of it.
  if (read.kind === 'read' && (read.extraction.verdict.proof !== 'moving' || slice.covers === undefined)) return read
  const isCut = read.kind === 'unread' || read.isRestless
  const more =
    read.kind === 'unread' && read.cause === 'too long' ? await cutSlice(slice, reading, deps, true) : undefined
  const halves = more ?? (isCut ? halveSlice(slice, read.rows, deps) : undefined)
  if (halves) return { kind: 'cut', parts: halves }
  if (read.kind === 'read') return { kind: 'read', extraction: withheld(read.extraction) }
  assert(read.cause !== 'too long')
  throw read.cause.refusal
}

/** Older than settle, and nothing of it could be written. */
function withheld({ verdict, ...extraction }: Extraction): Extraction {
  const reason = `it did not come to rest in ${MOST_READINGS} readings, so none of its rows was written: ${verdict.reason}`
  return { ...extraction, verdict: { proof: 'short', reason, isAtRest: false } }
}
