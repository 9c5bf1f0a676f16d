import type { Kysely } from 'kysely'
import type { Database } from '../db/database.ts'
import { type JobRun, readLastJobRuns } from '../state/job-runs.ts'
import type { Job } from './job.ts'
import { openTimetable } from './timetable.ts'

/** A job, when it is due next and how it ended last. */
export interface JobState {
  readonly job: Job
  /** Undefined for a job that is not enabled. */
  readonly next: Date | undefined
  /** Undefined before the first run. */
  readonly last: JobRun | undefined
}

/** `db`: undefined for a database without a schema. */
export async function readJobStates(
  db: Kysely<Database> | undefined,
  jobs: readonly Job[],
  nowMs: number,
): Promise<readonly JobState[]> {
  const names = jobs.map(({ name }) => name)
  const runs = db === undefined ? new Map<string, JobRun>() : await readLastJobRuns(db, names)
  return jobs.map((job) => {
    const tick = job.isEnabled ? openTimetable(job.cron, job.timeZone).next(nowMs) : undefined
    return { job, next: tick && new Date(tick.dueAtMs), last: runs.get(job.name) }
  })
}
