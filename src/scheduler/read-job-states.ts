import type { Job } from '../core/define-job.ts'
import { type JobRun, readHeldJobs, readLastJobRuns } from '../ledger/jobs.ts'
import type { Db } from '../store/database.ts'
import { openTimetable } from './timetable.ts'

/** A job, when it is next due and how it last ended. */
export type JobState = Awaited<ReturnType<typeof readJobStates>>[number]

/** Reads the state of each job. `db`: undefined for a database without a schema. */
export async function readJobStates(db: Db | undefined, jobs: readonly Job[], nowMs: number) {
  const names = jobs.map(({ name }) => name)
  const runs = db === undefined ? new Map<string, JobRun>() : await readLastJobRuns(db, names, new Date(nowMs))
  const heldJobs = db === undefined ? new Set<string>() : await readHeldJobs(db, names)
  return jobs.map((job) => {
    const tick = job.isEnabled ? openTimetable(job.cron, job.timeZone).next(nowMs) : undefined
    const [last, isHeld] = [runs.get(job.name), heldJobs.has(job.name)]
    // A lease may outlive its run by a moment. A run without a lease was interrupted, and will be resumed.
    const unfinished = isHeld ? ('running' as const) : last && ('interrupted' as const)
    // Undefined before the first run.
    const outcome = last?.status === 'ended' ? (last.outcome ?? 'failed') : unfinished
    return { job, next: tick && new Date(tick.dueAtMs), last, isRunning: isHeld, outcome }
  })
}
