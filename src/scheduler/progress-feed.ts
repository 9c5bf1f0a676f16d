import type { RunStatus } from '../core/outcome.ts'
import type { ProgressEvent, ReportProgress } from '../core/progress.ts'

/** What this process tells of the jobs that it runs. */
export type JobEvent =
  | { readonly kind: 'job.started'; readonly job: string; readonly atMs: number }
  | { readonly kind: 'job.progress'; readonly job: string; readonly event: ProgressEvent }
  | { readonly kind: 'job.ended'; readonly job: string; readonly atMs: number; readonly status: RunStatus }

/** A job that this process runs at the moment. */
export interface RunningJob {
  readonly job: string
  readonly startedAtMs: number
}

/** Passes on what running jobs tell, to whoever listens at the time. */
export interface ProgressFeed {
  readonly start: (job: string, atMs: number) => ReportProgress
  readonly end: (job: string, atMs: number, status: RunStatus) => void
  readonly running: () => readonly RunningJob[]
  /** Listeners must not throw and not wait. @returns what ends it */
  readonly listen: (listener: (event: JobEvent) => void) => () => void
}

export function createProgressFeed(): ProgressFeed {
  const listeners = new Set<(event: JobEvent) => void>()
  const running = new Map<string, RunningJob>()
  const tell = (event: JobEvent): void => {
    for (const listener of listeners) listener(event)
  }
  return {
    start: (job, startedAtMs) => {
      running.set(job, { job, startedAtMs })
      tell({ kind: 'job.started', job, atMs: startedAtMs })
      return (event) => tell({ kind: 'job.progress', job, event })
    },
    end: (job, atMs, status) => {
      running.delete(job)
      tell({ kind: 'job.ended', job, atMs, status })
    },
    running: () => [...running.values()],
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
