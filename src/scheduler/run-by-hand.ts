import assert from 'node:assert/strict'
import { takeJob } from '../state/jobs.ts'
import { beginJobRun } from '../state/job-runs.ts'
import type { Job } from './job.ts'
import { type JobOutcome, type PerformDeps, performRun } from './perform-run.ts'

/**
 * Runs a job now, whether it is due or not. @param worker host and process
 * @returns undefined where another process is at work on it @throws what the run throws, and db.… codes
 */
export async function runByHand(job: Job, worker: string, deps: PerformDeps): Promise<JobOutcome | undefined> {
  const { db, clock } = deps
  await using lease = await takeJob(db, job.name)
  if (lease === undefined) return undefined
  const startedAt = new Date(clock.now())
  const run = await beginJobRun(db, { job: job.name, due: undefined, worker, startedAt })
  assert(run !== undefined, 'a run by hand is due at no time')
  return await performRun(run, job, lease, deps)
}
