import { LivehouseError } from '../core/errors.ts'
import { describeList } from '../core/page.ts'
import { DAY, floorToMinute, MINUTE } from '../core/wall-clock.ts'
import type { BatchLoader } from './batch-loader.ts'
import { cutSlice, halveSlice, longestSlice, SHORTEST_WINDOW } from './cut-slice.ts'
import { extractKeyed } from './extract-keyed.ts'
import { extractUnkeyed } from './extract-unkeyed.ts'
import { type Extracted, type Extraction, MOST_READINGS } from './judge-walk.ts'
import {
  askedOf,
  fetchNumbered,
  fetchUnlessRefused,
  isRefusal,
  type PageReading,
  type SliceReading,
} from './page-reading.ts'
import { partOf } from './plan-again.ts'
import { cutWindowAt } from './plan-windows.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** What turns out longer than a slice is meant to be is read on for a while: a part may be larger than it seemed. */
const MOST_FACTOR = 1.5
/** So many pages of one minute are no list: the service begins again behind its end, or ignores the page parameter. */
const MOST_PAGES = 2000
/** What is asked for is a day: a minute more on both sides. */
const SHORTEST_RANGE = DAY - 2 * MINUTE

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
  const parts = await cutSlice(slice, reading, deps).catch(
    async (error: unknown) => await cutToServed(slice, reading.pages, error),
  )
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

/**
 * Cuts a slice of which the service refuses the first page: it may serve no range that is so long. Of its newest end a
 * day is asked for, then twice as much each time, until the longest that it serves is known well enough.
 * @throws the refusal of a day, and any other error
 */
async function cutToServed({ window, ...slice }: Slice, pages: PageReading, error: unknown): Promise<readonly Slice[]> {
  if (!isRefusal(error) || window === undefined || window.to - window.from <= SHORTEST_RANGE) throw error
  const newest = (length: number): PageReading => {
    const asked = askedOf({ window: { from: window.to - length, to: window.to } })
    return { ...pages, list: { ...pages.list, window: asked } }
  }
  let [served, refused] = [SHORTEST_RANGE, window.to - window.from]
  await fetchNumbered(newest(served), 1)
  while (refused - served > served / 8) {
    const length = Math.min(2 * served, floorToMinute((served + refused) / 2))
    if ('refusal' in (await fetchUnlessRefused(newest(length), 1))) refused = length
    else served = length
  }
  const parts = Math.ceil((window.to - window.from) / served)
  const bounds = Array.from({ length: parts }, (_, index) => window.to - index * served)
  return cutWindowAt(window, bounds).map((part) => partOf({ ...slice, window }, part))
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
