import type { Job } from '../core/define-job.ts'
import type { JobOutcome, RunJob } from '../app/run-job.ts'
import assert from 'node:assert/strict'
import type { Kysely } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import { sqlStateOf } from '../core/outcome.ts'
import type { Log } from '../core/log.ts'
import type { Database } from '../store/database.ts'
import { beginJobRun, endJobRun, type HeldJobRun } from '../ledger/job-runs.ts'
import { type JobLease, takeJob } from '../ledger/jobs.ts'
import type { ProgressBoard } from '../app/progress-board.ts'

export interface PerformDeps {
  readonly db: Kysely<Database>
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  readonly board: ProgressBoard
  readonly runJob: RunJob
}

/**
 * Performs a run that has been begun, and writes down how it ended. One that a signal interrupts, or whose database goes, is not
 * over: it is taken up again. One that another has taken up meanwhile ends without a word on record: that is the other's now.
 * @throws what `runJob` throws, and db.… codes
 */
export async function performRun(
  run: HeldJobRun,
  job: Job,
  { lost }: JobLease,
  { db, clock, log, signal, board, runJob }: PerformDeps,
): Promise<JobOutcome> {
  const report = board.start(job.name, clock.now())
  log.info('job.started', { job: job.name })

  let status: JobOutcome['status'] = 'failed'
  const end = async ({ runId, errors, ...outcome }: JobOutcome): Promise<void> => {
    status = outcome.status
    const isOver = status === 'ok' || !(signal.aborted || lost.aborted || errors.some(passes))
    const isWritten = await endJobRun(db, run, {
      status: isOver ? 'ended' : 'interrupted',
      outcome: isOver ? status : null,
      runId,
      // A signal is no error of the run's.
      error: !isOver && signal.aborted ? null : (errors[0]?.message ?? null),
      finishedAt: new Date(clock.now()),
    })
    if (!isWritten) log.warn('job.overtaken', { job: job.name })
  }
  try {
    const outcome = await runJob(job, { signal: AbortSignal.any([signal, lost]), report })
    await end(outcome)
    return outcome
  } catch (error) {
    // Where the database does not answer, what stopped the run says so; the run is taken up again.
    await end({ runId: null, status: 'failed', errors: [problemOf(error)] }).catch(() => {})
    throw error
  } finally {
    board.end(job.name)
    log.info('job.ended', { job: job.name, status })
  }
}

/** Whether the next attempt may find it gone. Classes 53 and 57: the server is short of something, or stops. */
function passes({ code, sqlState = '' }: JobOutcome['errors'][number]): boolean {
  return code === 'db.unreachable' || (code === 'db.refused' && /^5[37]/.test(sqlState))
}

function problemOf(error: unknown): JobOutcome['errors'][number] {
  const code = error instanceof LivehouseError ? error.code : 'internal'
  const message = error instanceof Error ? error.message : String(error)
  return { stream: null, partition: null, code, message, ...sqlStateOf(error) }
}

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
