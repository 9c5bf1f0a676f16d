import type { ReportProgress } from '../core/progress.ts'
import type { StreamName } from '../core/stream.ts'
import { createProgressTally, type ProgressTally } from '../sync/progress-tally.ts'

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

/** Adds up how far the jobs have come that this process runs. */
export interface ProgressBoard {
  /** @returns what the job reports to */
  readonly start: (job: string, startedAtMs: number) => ReportProgress
  readonly end: (job: string) => void
  readonly jobs: () => readonly JobProgress[]
}

interface Entry {
  readonly startedAtMs: number
  readonly tally: ProgressTally
  readonly streams: Set<StreamName>
}

/** Without jobs. */
export function createProgressBoard(): ProgressBoard {
  const entries = new Map<string, Entry>()
  return {
    start: (job, startedAtMs) => {
      const entry: Entry = { startedAtMs, tally: createProgressTally(), streams: new Set() }
      entries.set(job, entry)
      return (event) => {
        entry.streams.add(event.stream)
        entry.tally.add(event)
      }
    },
    end: (job) => void entries.delete(job),
    jobs: () => [...entries].map(([job, entry]) => ({ job, ...progressOf(entry) })),
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
