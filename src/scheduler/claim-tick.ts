import type { Job } from '../core/define-job.ts'
import type { Kysely } from 'kysely'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { type JobLease, takeJob } from '../ledger/jobs.ts'
import { beginJobRun, endJobRun, type HeldJobRun, type JobRun, resumeJobRun } from '../ledger/job-runs.ts'
import type { Timetable, Tick } from './timetable.ts'

/** What is known of a job's ticks. */
export interface JobHistory {
  /** From when on it is due by this schedule. */
  readonly sinceMs: number
  /** The last tick on record, as far as it does not lie ahead of now; undefined before the first. */
  readonly last: JobRun | undefined
}

/** What is to be done about a job now. `unfinished`: the tick before, whose run did not come to its end, is given up for this one. */
export type Decision =
  | { readonly kind: 'none' }
  | { readonly kind: 'begin'; readonly tick: Tick; readonly unfinished: JobRun | undefined }
  | { readonly kind: 'resume'; readonly run: JobRun }
  /** It was missed, and is not to be made up for. */
  | { readonly kind: 'miss'; readonly tick: Tick; readonly unfinished: JobRun | undefined }
  /** It was begun too often, or too long ago, without an end. */
  | { readonly kind: 'give up'; readonly run: JobRun; readonly reason: string }

/** Noticed later than this, a tick was missed. */
const MISSED_AFTER_MS = 60_000
/** A run that takes its process with it is not begun for ever. */
const MOST_ATTEMPTS = 5
/** How long it is left alone after an error has stopped it once, twice, …: what did is often not gone at once. */
const PAUSES_MS = [60_000, 5 * 60_000, 15 * 60_000, 60 * 60_000]

/**
 * What a job asks for: of all the ticks that were missed the last one, once; the tick whose run was interrupted, or whose process
 * died; or nothing. It has to be asked again by who holds the job's lock: only then nobody else is at work on it.
 */
export function decide(job: Job, timetable: Timetable, { sinceMs, last }: JobHistory, nowMs: number): Decision {
  const tick = timetable.last(Math.max(sinceMs, last?.dueAt?.getTime() ?? sinceMs), nowMs)
  const unfinished = last?.status === 'running' || last?.status === 'interrupted' ? last : undefined
  const isTooLate = (dueAtMs: number) => job.catchUp === 'never' && nowMs - dueAtMs > MISSED_AFTER_MS
  if (tick !== undefined) return { kind: isTooLate(tick.dueAtMs) ? 'miss' : 'begin', tick, unfinished }
  if (unfinished === undefined) return { kind: 'none' }
  if (isTooLate(unfinished.dueAt?.getTime() ?? nowMs)) {
    return { kind: 'give up', run: unfinished, reason: 'it was interrupted, and is not to be made up for' }
  }
  if (unfinished.attempts >= MOST_ATTEMPTS) {
    return { kind: 'give up', run: unfinished, reason: `it was begun ${unfinished.attempts} times and never ended` }
  }
  return nowMs < restUntil(unfinished) ? { kind: 'none' } : { kind: 'resume', run: unfinished }
}

/** One that a signal ended, or whose process died, is gone on with at once. */
function restUntil({ attempts, startedAt, finishedAt, error }: JobRun): number {
  return error === null ? 0 : (finishedAt ?? startedAt).getTime() + (PAUSES_MS[attempts - 1] ?? 0)
}

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
