import type { Job } from '../core/define-job.ts'
import type { Kysely } from 'kysely'
import type { Database } from '../store/database.ts'
import { readHeldJobs } from '../ledger/jobs.ts'
import { type JobRun, readLastJobRuns } from '../ledger/job-runs.ts'
import { openTimetable } from './timetable.ts'

/** A job, when it is due next and how it ended last. */
export interface JobState {
  readonly job: Job
  /** Undefined for a job that is not enabled. */
  readonly next: Date | undefined
  /** Undefined before the first run. */
  readonly last: JobRun | undefined
  /** Whether a living process is at work on it. */
  readonly isRunning: boolean
}

/** `db`: undefined for a database without a schema. */
export async function readJobStates(
  db: Kysely<Database> | undefined,
  jobs: readonly Job[],
  nowMs: number,
): Promise<readonly JobState[]> {
  const names = jobs.map(({ name }) => name)
  const runs = db === undefined ? new Map<string, JobRun>() : await readLastJobRuns(db, names)
  const held = db === undefined ? new Set<string>() : await readHeldJobs(db, names)
  return jobs.map((job) => {
    const tick = job.isEnabled ? openTimetable(job.cron, job.timeZone).next(nowMs) : undefined
    const next = tick && new Date(tick.dueAtMs)
    return { job, next, last: runs.get(job.name), isRunning: held.has(job.name) }
  })
}
