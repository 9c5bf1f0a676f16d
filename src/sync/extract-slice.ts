import { LivehouseError } from '../core/errors.ts'
import { describeList } from '../core/page.ts'
import type { BatchLoader } from './batch-loader.ts'
import { cutSlice, halveSlice, longestSlice, SHORTEST_WINDOW } from './cut-slice.ts'
import { extractKeyed } from './extract-keyed.ts'
import { extractUnkeyed } from './extract-unkeyed.ts'
import { type Extracted, type Extraction, MOST_READINGS } from './judge-walk.ts'
import type { SliceReading } from './page-reading.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** What turns out longer than a slice is meant to be is read on for a while: a part may be larger than it seemed. */
const MOST_FACTOR = 1.5
/** So many pages of one minute are no list: the service begins again behind its end, or ignores the page parameter. */
const MOST_PAGES = 2000

/**
 * Reads the rows of a slice, or cuts it where it is large: before it is read, or where reading shows that it is.
 *
 * @throws LivehouseError `paging.ignored` also where the list of one minute has no end, `api.…` of a call
 */
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
  if (identity === undefined) return await extractKeyed(slice, reading, deps, loader)

  const isTooLong = (pages: number) => pages > longestSlice(stream, deps.pagesPerSlice) * MOST_FACTOR
  const isEndless = (pages: number) => pages > MOST_PAGES
  const mayBeCut = window !== undefined && window.to - window.from > SHORTEST_WINDOW
  const read = await extractUnkeyed(slice, identity, reading, deps, loader, mayBeCut ? isTooLong : isEndless)
  // What is younger than settle may move: it is read again next time, and nothing is claimed of it.
  if (read.kind === 'read' && (read.extraction.verdict.proof !== 'moving' || slice.covers === undefined)) return read
  const isCut = read.kind === 'unread' || read.isRestless
  const more =
    read.kind === 'unread' && read.cause === 'too long' ? await cutSlice(slice, reading, deps, true) : undefined
  const halves = more ?? (isCut ? halveSlice(slice, read.rows, deps) : undefined)
  if (halves) return { kind: 'cut', parts: halves }
  if (read.kind === 'read') return { kind: 'read', extraction: withheld(read.extraction) }
  throw read.cause === 'too long' ? endless(describeList(reading.pages.list)) : read.cause.refusal
}

function endless(call: string): LivehouseError {
  const evidence = `page ${MOST_PAGES + 1} of one minute still holds rows`
  const message = `${call}: the list has no end: ${evidence}. Ask the service's support.`
  return new LivehouseError('paging.ignored', message, { call, parameter: 'page', evidence })
}

/** Older than settle, and nothing of it could be written. */
function withheld({ verdict, ...extraction }: Extraction): Extraction {
  const reason = `it did not come to rest in ${MOST_READINGS} readings or more, no row was written: ${verdict.reason}`
  return { ...extraction, verdict: { proof: 'short', reason, isAtRest: false } }
}
