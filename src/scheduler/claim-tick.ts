import type { Job } from '../core/define-job.ts'
import type { Kysely } from 'kysely'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { type JobLease, takeJob } from '../ledger/jobs.ts'
import { beginJobRun, endJobRun, type HeldJobRun, type JobRun, resumeJobRun } from '../ledger/job-runs.ts'
import { decide, type Decision, type JobHistory } from './decide.ts'
import type { Timetable } from './timetable.ts'

/** A run that is ours to perform; whoever has performed it disposes of the lease. */
export interface ClaimedRun {
  readonly run: HeldJobRun
  readonly lease: JobLease
}

export interface ClaimDeps {
  readonly db: Kysely<Database>
  readonly clock: Clock
  readonly log: Log
  /** Host and process. */
  readonly worker: string
  /** What is on record of the job now. */
  readonly readHistory: () => Promise<JobHistory | undefined>
}

/**
 * Claims what a job asks for. @returns undefined where another process is at work on the job, or has done it by now, or where
 * nothing is to be run @throws db.… codes
 */
export async function claimTick(job: Job, timetable: Timetable, deps: ClaimDeps): Promise<ClaimedRun | undefined> {
  const lease = await takeJob(deps.db, job.name)
  if (lease === undefined) return undefined
  let run: HeldJobRun | undefined
  try {
    const history = await deps.readHistory()
    if (history) run = await begin(job, decide(job, timetable, history, deps.clock.now()), deps)
  } finally {
    if (run === undefined) await lease[Symbol.asyncDispose]()
  }
  return run && { run, lease }
}

/** Writes down what was decided. @returns the run that is to be performed */
async function begin(
  job: Job,
  decision: Decision,
  { db, clock, log, worker }: ClaimDeps,
): Promise<HeldJobRun | undefined> {
  const at = new Date(clock.now())
  // A run that was begun and has no end has failed, and is told so: without a run of its own that could tell it.
  const giveUp = async (run: HeldJobRun, reason: string): Promise<void> => {
    const end = { status: 'ended', outcome: 'failed', runId: null, error: reason, finishedAt: at } as const
    if (await endJobRun(db, run, end)) log.error('job.failed', { job: job.name, reason })
  }
  // Nobody need hear of it: the run that begins now does what this one left.
  const supersede = async ({ runId, ...run }: JobRun, localTime: string): Promise<void> => {
    const reason = `it was interrupted, and the run of ${localTime} does what it left`
    const end = { status: 'skipped', outcome: null, runId, error: reason, finishedAt: at } as const
    if (await endJobRun(db, run, end)) log.info('job.superseded', { job: job.name, reason })
  }
  switch (decision.kind) {
    case 'none':
      return undefined
    case 'give up':
      await giveUp(decision.run, decision.reason)
      return undefined
    case 'resume':
      return await resumeJobRun(db, decision.run, { worker, startedAt: at })
    case 'begin':
    case 'miss': {
      const { tick, unfinished } = decision
      const localTime = formatWallTime(tick.localTime)
      if (unfinished && decision.kind === 'begin' && wasOnlyStopped(unfinished)) await supersede(unfinished, localTime)
      else if (unfinished) await giveUp(unfinished, `it had not come to its end when it was due again, ${localTime}`)
      const due = { localTime, timeZone: job.timeZone, isRepeat: tick.isRepeat, dueAt: new Date(tick.dueAtMs) }
      const run = await beginJobRun(db, { job: job.name, due, worker, startedAt: at })
      if (decision.kind === 'begin' || run === undefined) return run
      const reason = 'it was missed, and is not to be made up for'
      await endJobRun(db, run, { status: 'skipped', outcome: null, runId: null, error: reason, finishedAt: at })
      log.warn('job.skipped', { job: job.name, reason })
      return undefined
    }
  }
}

/** By a signal; or its process died, once: one whose every attempt takes its process with it has failed. */
function wasOnlyStopped({ status, error, attempts }: JobRun): boolean {
  return error === null && (status === 'interrupted' || attempts === 1)
}
