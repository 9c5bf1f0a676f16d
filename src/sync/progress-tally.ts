import type { ProgressEvent } from '../core/progress.ts'
import type { StreamName } from '../core/stream.ts'

/** How far a stream has come. */
export interface StreamTally {
  readonly rows: number
  readonly pages: number
  /** Of all slices, as far as it can be said; slices that have not begun are taken to be like the others. */
  readonly totalPages: number | undefined
  /** Planned, or begun where nothing was planned. */
  readonly slices: number
  readonly endedSlices: number
}

interface SliceTally {
  pages: number
  totalPages: number | undefined
  isEnded: boolean
}

/** Sums over all slices: each page is reported, so they are kept, not added up again for thousands of slices. */
interface Counters {
  planned: number
  rows: number
  pages: number
  begun: number
  ended: number
  /** Slices of which it is known how many pages they have, and how many that is. */
  measured: number
  measuredPages: number
  /** By name; one that is read again replaces its earlier self. */
  readonly current: Map<string, SliceTally>
}

/** Whether every slice that is known has ended. */
export function isOver({ slices, endedSlices }: StreamTally): boolean {
  return slices > 0 && endedSlices === slices
}

/** Adds up progress events by stream. */
export interface ProgressTally {
  readonly add: (event: ProgressEvent) => StreamTally
  readonly of: (stream: StreamName) => StreamTally | undefined
}

/** Starts from nothing. */
export function createProgressTally(): ProgressTally {
  const streams = new Map<StreamName, Counters>()
  return {
    add: (event) => {
      const counters = streams.get(event.stream) ?? noCounters()
      streams.set(event.stream, counters)
      count(counters, event)
      return summary(counters)
    },
    of: (stream) => {
      const counters = streams.get(stream)
      return counters && summary(counters)
    },
  }
}

function noCounters(): Counters {
  return { planned: 0, rows: 0, pages: 0, begun: 0, ended: 0, measured: 0, measuredPages: 0, current: new Map() }
}

function count(counters: Counters, event: ProgressEvent): void {
  if (event.kind === 'stream.planned') {
    counters.planned += event.slices
    return
  }
  if (event.kind === 'slice.started' || !counters.current.has(event.slice)) {
    const begun = { pages: 0, totalPages: undefined, isEnded: false }
    weigh(counters, begun, 1)
    counters.current.set(event.slice, begun)
  }
  const slice = counters.current.get(event.slice)
  if (!slice) return
  weigh(counters, slice, -1)
  if (event.kind === 'slice.cut') {
    counters.planned += event.parts - 1
    return
  }
  if (event.kind === 'page') {
    counters.rows += event.rows
    slice.pages += 1
    slice.totalPages = event.totalPages
  }
  if (event.kind === 'slice.ended') slice.isEnded = true
  weigh(counters, slice, 1)
}

/** Adds a slice to the sums, or takes it out of them. */
function weigh(counters: Counters, { pages, totalPages, isEnded }: SliceTally, sign: 1 | -1): void {
  counters.begun += sign
  counters.pages += sign * pages
  if (isEnded) counters.ended += sign
  if (!isEnded && totalPages === undefined) return
  counters.measured += sign
  counters.measuredPages += sign * (isEnded ? pages : Math.max(pages, totalPages ?? 0))
}

function summary({ planned, rows, pages, begun, ended, measured, measuredPages }: Counters): StreamTally {
  const slices = Math.max(planned, begun)
  const totalPages = measured === 0 ? undefined : Math.round((measuredPages / measured) * slices)
  return { rows, pages, totalPages, slices, endedSlices: ended }
}
