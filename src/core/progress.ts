import type { Proof } from './slice.ts'
import type { StreamName } from './stream.ts'

/** What a run tells about itself while it goes on. `slice` is its partition, with its window where it has one. */
export type ProgressEvent =
  /** Comes first: how many slices the plan has for a stream. */
  | { readonly kind: 'stream.planned'; readonly stream: StreamName; readonly slices: number }
  | { readonly kind: 'slice.started'; readonly stream: StreamName; readonly slice: string }
  /** One page has been read. */
  | {
      readonly kind: 'page'
      readonly stream: StreamName
      readonly slice: string
      /** Items of this page. */
      readonly rows: number
      /** Pages of the whole slice, as far as the source's total says. */
      readonly totalPages: number | undefined
    }
  /** A slice turned out to be large and goes on in parts. */
  | { readonly kind: 'slice.cut'; readonly stream: StreamName; readonly slice: string; readonly parts: number }
  | { readonly kind: 'slice.ended'; readonly stream: StreamName; readonly slice: string; readonly proof: Proof }

/** Never throws and never waits. */
export type ReportProgress = (event: ProgressEvent) => void

/** How far a stream has come. */
export interface StreamTally {
  readonly rows: number
  /** Planned, or begun where nothing was planned. */
  readonly slices: number
  readonly endedSlices: number
  /** From 0 to 1, by slices, and by their pages while they are read; never less than before. */
  readonly share: number
}

interface Counters {
  planned: number
  rows: number
  ended: number
  share: number
  /** What is being read, by name, and which share of it has come. */
  readonly open: Map<string, number>
}

/** Adds up progress events by stream. */
export interface ProgressTally {
  readonly add: (event: ProgressEvent) => StreamTally
}

/** Starts from nothing. */
export function createProgressTally(): ProgressTally {
  const streams = new Map<StreamName, Counters>()
  return {
    add: (event) => {
      const counters = streams.get(event.stream) ?? { planned: 0, rows: 0, ended: 0, share: 0, open: new Map() }
      streams.set(event.stream, counters)
      count(counters, event)
      counters.share = Math.max(counters.share, shareOf(counters))
      const { rows, ended: endedSlices, share } = counters
      return { rows, slices: slicesOf(counters), endedSlices, share }
    },
  }
}

function count(counters: Counters, event: ProgressEvent): void {
  if (event.kind === 'stream.planned') {
    counters.planned += event.slices
    return
  }
  const share = counters.open.get(event.slice) ?? 0
  counters.open.set(event.slice, share)
  if (event.kind === 'page') {
    counters.rows += event.rows
    counters.open.set(event.slice, Math.min(1, share + 1 / (event.totalPages ?? Infinity)))
  } else if (event.kind === 'slice.ended') {
    counters.ended++
    counters.open.delete(event.slice)
  } else if (event.kind === 'slice.cut') {
    counters.planned += event.parts - 1
    counters.open.delete(event.slice)
  }
}

function shareOf(counters: Counters): number {
  const read = [...counters.open.values()].reduce((sum, share) => sum + share, counters.ended)
  return read === 0 ? 0 : read / slicesOf(counters)
}

function slicesOf({ planned, ended, open }: Counters): number {
  return Math.max(planned, ended + open.size)
}
