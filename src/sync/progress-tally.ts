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

interface Counters {
  planned: number
  rows: number
  pages: number
  ended: number
  /** Of those that have ended. */
  endedPages: number
  /** What is being read, by name. */
  readonly open: Map<string, { pages: number; totalPages: number | undefined }>
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
  return { planned: 0, rows: 0, pages: 0, ended: 0, endedPages: 0, open: new Map() }
}

function count(counters: Counters, event: ProgressEvent): void {
  if (event.kind === 'stream.planned') {
    counters.planned += event.slices
    return
  }
  const slice = counters.open.get(event.slice) ?? { pages: 0, totalPages: undefined }
  counters.open.set(event.slice, slice)
  if (event.kind === 'page') {
    counters.rows += event.rows
    counters.pages++
    slice.pages++
    slice.totalPages = event.totalPages
  } else if (event.kind === 'slice.ended') {
    counters.ended++
    counters.endedPages += slice.pages
    counters.open.delete(event.slice)
  } else if (event.kind === 'slice.cut') {
    counters.planned += event.parts - 1
    counters.pages -= slice.pages
    counters.open.delete(event.slice)
  }
}

function summary({ planned, rows, pages, ended, endedPages, open }: Counters): StreamTally {
  const slices = Math.max(planned, ended + open.size)
  const measured = [...open.values()].filter(({ totalPages }) => totalPages !== undefined)
  const measuredPages = measured.reduce((sum, slice) => sum + Math.max(slice.pages, slice.totalPages ?? 0), endedPages)
  const isAnyMeasured = ended + measured.length > 0
  const totalPages = isAnyMeasured ? Math.round((measuredPages / (ended + measured.length)) * slices) : undefined
  return { rows, pages, totalPages, slices, endedSlices: ended }
}
