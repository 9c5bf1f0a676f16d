import type { ItemReader } from '../core/item.ts'
import type { Page } from '../core/page.ts'
import { widen, type Window } from '../core/slice.ts'
import { formatWallDate } from '../core/wall-clock.ts'
import { type EarlierReadings, readEarlier } from '../ledger/earlier-readings.ts'
import { fetchNumbered, type PageReading } from './page-reading.ts'
import { coveredPart, horizonAt } from './plan-windows.ts'
import { type CallMeter, type RunDeps, type Slice, sliceName } from './slice-work.ts'

/** What every way of reading a slice begins with. */
export interface SliceReading {
  readonly pages: PageReading
  readonly readItem: ItemReader
  readonly asked: Window | undefined
  /** What the slice may claim to cover: never what a clock, the service's or ours, had not shown yet when it began to answer. */
  readonly covers: () => Window | undefined
  /** Page 1; whoever asks for it next gets this one. */
  readonly firstPage: () => Promise<Page>
  /** What was there before it; asked once. */
  readonly earlier: () => Promise<EarlierReadings>
  readonly reportPage: (rows: number, totalPages: number | undefined) => void
}

/** Whether the service's filters include their ends is not shown: each request asks for this much more on both sides. */
const OVERLAP_SECONDS = 60

/** What goes on the wire for a slice; undefined for a walk over the whole list. */
export function askedOf({ window }: Pick<Slice, 'window'>): Window | undefined {
  return window && widen(window, OVERLAP_SECONDS)
}

/** @param pageSize how many rows of a page are asked for; the largest that the spec allows when not given */
export function openReading(
  slice: Slice,
  deps: RunDeps,
  meter: CallMeter,
  pageSize = slice.stream.pageSize,
): SliceReading {
  const { stream, partition, window } = slice
  const asked = askedOf(slice)
  const startedAtMs = deps.clock.now()
  const claimableMs = deps.claimableMs()
  let earlier: Promise<EarlierReadings> | undefined
  let first: Page | undefined
  let servedAtMs: number | undefined
  const pages: PageReading = {
    fetchPage: async (request, context) => {
      if (request.page === 1 && first !== undefined) {
        const known = first
        first = undefined
        return known
      }
      const page = await deps.fetchPage(request, context)
      servedAtMs ??= page.serviceTimeMs
      return page
    },
    list: { stream, partition, window: asked },
    pageSize,
    readAhead: deps.readAhead,
    context: { signal: deps.signal, onAttempt: meter.onAttempt },
  }
  return {
    pages,
    readItem: deps.openItemReader(stream, {
      partition,
      // Few streams want it.
      get serviceDay() {
        return formatWallDate(deps.wallTimeAt(startedAtMs))
      },
    }),
    asked,
    covers: () => {
      const seenMs = Math.min(claimableMs, servedAtMs ?? claimableMs)
      return slice.covers && coveredPart(slice.covers, horizonAt(deps.wallTimeAt(seenMs)))
    },
    firstPage: async () => {
      first = await fetchNumbered(pages, 1)
      return first
    },
    earlier: async () => {
      earlier ??= readEarlier(deps.db, stream, partition, window === undefined)
      return await earlier
    },
    reportPage: (rows, totalPages) => {
      deps.report({ kind: 'page', stream: stream.name, slice: sliceName(slice), rows, totalPages })
    },
  }
}
