import { createHash } from 'node:crypto'
import type { AppContext } from '../app/context.ts'
import { runProblemsOf } from '../app/outcome.ts'
import type { JobOutcome, RunJob } from '../app/run-job.ts'
import type { Job } from '../core/define-job.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import { beginJobRun, type EndedJobRun, endJobRun, type HeldJobRun, type JobLease, takeJob } from '../ledger/jobs.ts'
import { thisProcess } from '../ledger/leases/leases.ts'
import type { Db } from '../store/database.ts'
import type { QueuedJob } from './queue.ts'
import { openTimetable, type Tick } from './timetable.ts'
import type { WorkOptions } from './work-on.ts'

/** A due run of a job, as queued: with the job's definition, so that any `serve` process can perform it. */
export interface DueRun {
  readonly job: Job
  readonly tick: Tick
}

/** A run that a user requested, whether the job is due or not. */
interface RequestedRun {
  readonly job: Job
  readonly askedBy: string
}

interface PerformDeps extends Pick<AppContext, 'clock' | 'log'> {
  readonly db: Db
  readonly runJob: RunJob
}

/** A tick that is noticed later than this counts as missed. */
const MISSED_AFTER_MS = 60_000
/** How often to check whether a run by hand has ended. */
const HELD_POLL_MS = 5000

/** Several processes may queue the same tick; its id, made of job, wall time and zone, keeps that to one run. */
export function toDueJob({ job, tick }: DueRun): QueuedJob {
  const key = JSON.stringify([job.name, job.timeZone, tick.localTime, tick.isRepeat])
  return { id: uuidOf(key), key: job.name, priority: 0, data: { job, tick } satisfies DueRun }
}

/** Repeated requests before a run begins queue it once: its id is made of the job and the job's last start. */
export function toRequestedJob({ job, askedBy }: RequestedRun, lastStartedAt: Date | undefined): QueuedJob {
  const key = JSON.stringify([job.name, lastStartedAt?.getTime() ?? 0])
  return { id: uuidOf(key), key: job.name, priority: 0, data: { job, askedBy } satisfies RequestedRun }
}

/** A hash in the form of a UUID; Postgres checks nothing but the form. */
function uuidOf(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32)
}

/**
 * Performs queued runs. If a signal, the loss of its database or an update of it stops a run, it fails in the queue and
 * is attempted again. Each attempt at a run that a user requested is recorded as a run of its own.
 */
export function createRunHandler(deps: PerformDeps): WorkOptions['handle'] {
  return async ({ data, number, isLast }, signal) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON that a scheduler has queued
    const { job, ...origin } = data as DueRun | RequestedRun
    await using lease = await waitForJob(job, deps, signal)
    const run = 'tick' in origin ? await beginDue({ job, ...origin }, number, deps) : await begin(job, undefined, deps)
    if (run === undefined) return {}
    const askedBy = 'tick' in origin ? undefined : origin.askedBy
    const { isOver, errors, thrown } = await performRun(run, job, lease, { ...deps, signal, isLast, askedBy })
    if (!isOver) throw thrown ?? new Error(errors[0]?.message ?? 'it was interrupted')
    return {}
  }
}

/** Begins a due run. Returns undefined if it is over, missed, or replaced by a later tick. */
async function beginDue({ job, tick }: DueRun, number: number, deps: PerformDeps): Promise<HeldJobRun | undefined> {
  const { db, clock, log } = deps
  const later = openTimetable(job.cron, job.timeZone).last(tick.dueAtMs, clock.now())
  if (number === 0 && later !== undefined) return undefined
  const isMissed = job.catchUp === 'never' && clock.now() - tick.dueAtMs > MISSED_AFTER_MS
  const run = await begin(job, tick, deps)
  if (run === undefined || (later === undefined && !isMissed)) return run
  const what = number > 0 ? 'interrupted' : 'missed'
  const error = later
    ? `it was still unfinished when it was due again, ${formatWallTime(later.localTime)}`
    : `it was ${what}, and its job has catchUp: 'never'`
  // One interruption may be an update of livehouse; a run that keeps ending its process has failed.
  const hasFailed = number > (later ? 1 : 0)
  const end = { runId: null, error, finishedAt: new Date(clock.now()) }
  if (hasFailed) await endJobRun(db, run, { ...end, status: 'ended', outcome: 'failed' })
  else await endJobRun(db, run, { ...end, status: 'skipped', outcome: null })
  if (hasFailed) log.error('job.failed', { job: job.name, reason: error })
  else log.warn('job.skipped', { job: job.name, reason: error })
  return undefined
}

/** Records the failure of a run that has begun too often without ending. */
export function createGiveUpHandler(deps: Pick<PerformDeps, 'db' | 'clock' | 'log'>): WorkOptions['handle'] {
  return async ({ data }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    const queued = data as DueRun | RequestedRun
    // Each attempt at a run that a user requested is on record already.
    const run = 'tick' in queued ? await begin(queued.job, queued.tick, deps) : undefined
    if (run === undefined) return {}
    const error = `it was begun ${run.attempts - 1} times and never ended`
    const finishedAt = new Date(deps.clock.now())
    await endJobRun(deps.db, run, { status: 'ended', outcome: 'failed', runId: null, error, finishedAt })
    deps.log.error('job.failed', { job: queued.job.name, reason: error })
    return {}
  }
}

/** @param tick undefined for a run that a user requested or started, which is always a new one */
async function begin(job: Job, tick: Tick | undefined, { db, clock }: Pick<PerformDeps, 'db' | 'clock'>) {
  const due = tick && {
    localTime: formatWallTime(tick.localTime),
    timeZone: job.timeZone,
    isRepeat: tick.isRepeat,
    dueAt: new Date(tick.dueAtMs),
  }
  return await beginJobRun(db, { job: job.name, due, worker: thisProcess(), startedAt: new Date(clock.now()) })
}

/** Waits for the job's lease, which a run by hand, outside of the queue, may hold. */
async function waitForJob({ name }: Job, { db, clock }: PerformDeps, signal: AbortSignal): Promise<JobLease> {
  for (;;) {
    const lease = await takeJob(db, name)
    if (lease !== undefined) return lease
    await clock.sleep(HELD_POLL_MS, signal)
  }
}

interface PerformOptions extends PerformDeps {
  readonly signal: AbortSignal
  /** Whether no further attempt follows, even if this one fails. */
  readonly isLast: boolean
  readonly askedBy?: string | undefined
}

/**
 * Performs a run that has begun, and records how it ended. `isOver` is false if a signal interrupted the run or its
 * database was lost. If another process has begun it since, that process records its end.
 */
async function performRun(
  run: HeldJobRun,
  job: Job,
  { lost }: JobLease,
  { db, clock, log, runJob, signal, isLast, askedBy }: PerformOptions,
) {
  log.info('job.started', { job: job.name })
  const result = await runJob(job, { signal: AbortSignal.any([signal, lost]), askedBy }).then(
    (outcome) => ({ ...outcome, thrown: undefined }),
    (error: unknown) => {
      const thrown = error instanceof Error ? error : new Error(String(error))
      return { runId: null, status: 'failed' as const, errors: runProblemsOf(error), thrown }
    },
  )
  const { status, runId, errors, thrown } = result
  const isOver = status === 'ok' || !(signal.aborted || lost.aborted || (errors.some(isTransient) && !isLast))
  // An interruption is not an error of the run.
  const error = !isOver && signal.aborted ? null : (errors[0]?.message ?? null)
  const finishedAt = new Date(clock.now())
  const end: EndedJobRun = isOver
    ? { status: 'ended', outcome: status, runId, error, finishedAt }
    : { status: 'interrupted', outcome: null, runId, error, finishedAt }
  if (thrown !== undefined && error !== null) log.error('job.failed', { job: job.name, reason: error, err: thrown })
  try {
    if (!(await endJobRun(db, run, end))) log.warn('job.overtaken', { job: job.name })
  } finally {
    log.info('job.ended', { job: job.name, status })
  }
  return { isOver, errors, thrown }
}

/** Whether another attempt may succeed; if a newer version has migrated the database, that of an updated process. */
function isTransient({ code, sqlState = '' }: JobOutcome['errors'][number]): boolean {
  // SQLSTATE 53…: out of resources; 57…: shutdown; 25P03, 25P04: time-outs.
  return ['db.unreachable', 'db.newer'].includes(code) || (code === 'db.refused' && /^5[37]|^25P0[34]/.test(sqlState))
}

/**
 * Runs a job now, whether it is due or not, unless another process is at work on it.
 * @throws what the run throws, and db.… codes
 */
export async function runByHand(job: Job, deps: PerformDeps & { readonly signal: AbortSignal }): Promise<void> {
  await using lease = await takeJob(deps.db, job.name)
  const run = lease && (await begin(job, undefined, deps))
  if (lease === undefined || run === undefined) return
  const { thrown } = await performRun(run, job, lease, { ...deps, isLast: false })
  if (thrown !== undefined) throw thrown
}
