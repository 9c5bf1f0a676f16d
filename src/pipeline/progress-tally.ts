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

interface Counters {
  planned: number
  rows: number
  readonly slices: SliceTally[]
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
      const counters = streams.get(event.stream) ?? { planned: 0, rows: 0, slices: [], current: new Map() }
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

function count(counters: Counters, event: ProgressEvent): void {
  if (event.kind === 'stream.planned') {
    counters.planned += event.slices
    return
  }
  if (event.kind === 'slice.started' || !counters.current.has(event.slice)) {
    const begun = { pages: 0, totalPages: undefined, isEnded: false }
    counters.slices.push(begun)
    counters.current.set(event.slice, begun)
  }
  const slice = counters.current.get(event.slice)
  if (!slice) return
  if (event.kind === 'page') {
    counters.rows += event.rows
    slice.pages += 1
    slice.totalPages = event.totalPages
  }
  if (event.kind === 'slice.ended') slice.isEnded = true
  if (event.kind === 'slice.cut') {
    counters.slices.splice(counters.slices.indexOf(slice), 1)
    counters.planned += event.parts - 1
  }
}

function summary({ planned, rows, slices }: Counters): StreamTally {
  const pages = slices.reduce((sum, slice) => sum + slice.pages, 0)
  const known = slices.flatMap(({ isEnded, pages, totalPages }) => {
    if (isEnded) return [pages]
    return totalPages === undefined ? [] : [Math.max(pages, totalPages)]
  })
  const count = Math.max(planned, slices.length)
  const sum = known.reduce((total, each) => total + each, 0)
  const totalPages = known.length === 0 ? undefined : Math.round((sum / known.length) * count)
  return { rows, pages, totalPages, slices: count, endedSlices: slices.filter(({ isEnded }) => isEnded).length }
}
