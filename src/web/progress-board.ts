import type { ProgressEvent } from '../core/progress.ts'
import type { StreamName } from '../core/stream.ts'
import { createProgressTally, type ProgressTally } from '../sync/progress-tally.ts'

/** What tells of the jobs that this process runs; the scheduler's feed. */
export interface ProgressSource {
  readonly running: () => readonly { readonly job: string; readonly startedAtMs: number }[]
  /** @returns what ends it */
  readonly listen: (listener: (event: ProgressNews) => void) => () => void
}

/** As the scheduler's feed tells it. */
export type ProgressNews =
  | { readonly kind: 'job.started'; readonly job: string; readonly atMs: number }
  | { readonly kind: 'job.progress'; readonly job: string; readonly event: ProgressEvent }
  | { readonly kind: 'job.ended'; readonly job: string }

/** How far a stream of a running job has come. */
export interface StreamProgress {
  readonly stream: StreamName
  readonly rows: number
  readonly slices: number
  readonly endedSlices: number
  /** From 0 to 1, by pages as far as these are known. */
  readonly share: number
}

export interface JobProgress {
  readonly job: string
  readonly startedAtMs: number
  /** In the order in which they began. */
  readonly streams: readonly StreamProgress[]
}

/** Adds up what running jobs tell. */
export interface ProgressBoard extends Disposable {
  readonly jobs: () => readonly JobProgress[]
  /** Told after each piece of news: whether a job began or ended. @returns what ends it */
  readonly listen: (listener: (isTurn: boolean) => void) => () => void
}

interface Entry {
  readonly startedAtMs: number
  readonly tally: ProgressTally
  readonly streams: Set<StreamName>
}

export function createProgressBoard(source: ProgressSource): ProgressBoard {
  const entries = new Map<string, Entry>()
  const listeners = new Set<(isTurn: boolean) => void>()
  const begin = (job: string, startedAtMs: number): void =>
    void entries.set(job, { startedAtMs, tally: createProgressTally(), streams: new Set() })
  for (const { job, startedAtMs } of source.running()) begin(job, startedAtMs)

  const end = source.listen((news) => {
    if (news.kind === 'job.started') begin(news.job, news.atMs)
    else if (news.kind === 'job.ended') entries.delete(news.job)
    else {
      const entry = entries.get(news.job)
      entry?.streams.add(news.event.stream)
      entry?.tally.add(news.event)
    }
    for (const listener of listeners) listener(news.kind !== 'job.progress')
  })
  return {
    jobs: () => [...entries].map(([job, entry]) => ({ job, ...progressOf(entry) })),
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    [Symbol.dispose]: end,
  }
}

function progressOf({ startedAtMs, tally, streams }: Entry): Omit<JobProgress, 'job'> {
  const shown = [...streams].flatMap((stream) => {
    const state = tally.of(stream)
    if (state === undefined || state.slices === 0) return []
    const { rows, pages, totalPages, slices, endedSlices } = state
    const share = endedSlices === slices ? 1 : totalPages === undefined ? endedSlices / slices : pages / totalPages
    return [{ stream, rows, slices, endedSlices, share: Math.min(1, Math.max(0, share)) }]
  })
  return { startedAtMs, streams: shown }
}
