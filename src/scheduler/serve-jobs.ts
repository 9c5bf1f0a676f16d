import type { Job } from '../core/define-job.ts'
import type { Kysely } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { Database } from '../store/database.ts'
import { readLastTicks } from '../ledger/job-runs.ts'
import { readSchedulers, registerJobs, sayGone, sayHere, type Scheduler } from '../ledger/jobs.ts'
import { type ClaimedRun, claimTick, decide, type JobHistory } from './claim-tick.ts'
import { type PerformDeps, performRun } from './perform-run.ts'
import { openTimetable, type Timetable } from './timetable.ts'

export interface ServeOptions extends PerformDeps {
  readonly jobs: readonly Job[]
  readonly scheduler: Scheduler
}

/** What other processes do, a run that was interrupted, and a clock that jumps are seen as soon as this. */
const POLL_MS = 30_000
/** How long a database that has gone is left alone. */
const DATABASE_POLL_MS = 5000

/**
 * Runs jobs when they are due, until the signal aborts and what was running has ended. Several at once on one database share the
 * work: each tick is run by one of them. A database that has gone is waited for.
 * @throws what is not the database's to repair: a bug
 */
export async function serveJobs(options: ServeOptions): Promise<void> {
  const { db, clock, log, scheduler, jobs } = options
  const ending = new AbortController()
  const signal = AbortSignal.any([options.signal, ending.signal])
  const served = jobs
    .filter(({ isEnabled }) => isEnabled)
    .map((job) => ({ job, timetable: openTimetable(job.cron, job.timeZone) }))
  const meetOthers = createMeetOthers(db, log, scheduler)
  const readHistories = createReadHistories(db, clock, jobs)
  const running = new Map<string, Promise<void>>()
  const outage = createOutageLog(clock, log)

  const perform = async (job: Job, { run, lease }: ClaimedRun): Promise<void> => {
    await using _ = lease
    try {
      await performRun(run, job, lease, { ...options, signal })
    } catch (error) {
      if (isOfDatabase(error)) return outage.begin(error)
      const facts = error instanceof LivehouseError ? { reason: error.message } : { err: error }
      log.error('job.failed', { job: job.name, ...facts })
    }
  }
  const lookAround = async (): Promise<void> => {
    await meetOthers()
    const idle = served.filter(({ job }) => !running.has(job.name))
    const histories = await readHistories(idle.map(({ job }) => job))
    for (const { job, timetable } of idle) {
      const history = histories.get(job.name)
      if (!history || decide(job, timetable, history, clock.now()).kind === 'none') continue
      const readHistory = async () => (await readHistories([job])).get(job.name)
      const claimed = await claimTick(job, timetable, { db, clock, log, worker: scheduler.worker, readHistory })
      if (claimed)
        running.set(
          job.name,
          perform(job, claimed).finally(() => running.delete(job.name)),
        )
    }
  }

  while (!signal.aborted) {
    let waitMs: number
    try {
      await lookAround()
      outage.end()
      waitMs = untilNext(served, clock.now())
    } catch (error) {
      if (!isOfDatabase(error)) {
        ending.abort(error)
        break
      }
      outage.begin(error)
      waitMs = DATABASE_POLL_MS
    }
    await clock.sleep(waitMs, signal).catch(() => {})
  }
  await Promise.all(running.values())
  await sayGone(db, scheduler.schedulerId).catch(() => {})
  ending.signal.throwIfAborted()
}

/** Says so once when the database goes, and once when it is back. */
function createOutageLog(clock: Clock, log: Log) {
  let sinceMs: number | undefined
  return {
    begin: ({ message }: LivehouseError): void => {
      if (sinceMs === undefined) log.error('database.lost', { reason: message })
      sinceMs ??= clock.now()
    },
    end: (): void => {
      if (sinceMs !== undefined) log.info('database.back', { afterMs: clock.now() - sinceMs })
      sinceMs = undefined
    },
  }
}

/** Whether an error is the database's to repair: then it is waited for. */
export function isOfDatabase(error: unknown): error is LivehouseError {
  return error instanceof LivehouseError && error.code.startsWith('db.')
}

interface ServedJob {
  readonly job: Job
  readonly timetable: Timetable
}

function untilNext(served: readonly ServedJob[], nowMs: number): number {
  const waits = served.map(({ timetable }) => (timetable.next(nowMs)?.dueAtMs ?? Infinity) - nowMs)
  return Math.min(POLL_MS, ...waits)
}

/** Says that a scheduler is there, and warns once of each other one whose job files are not the same. */
export type MeetOthers = () => Promise<void>

export function createMeetOthers(db: Kysely<Database>, log: Log, scheduler: Scheduler): MeetOthers {
  const warned = new Set<string>()
  return async () => {
    await sayHere(db, scheduler)
    for (const other of await readSchedulers(db)) {
      const jobs = differingJobs(scheduler.jobs, other.jobs)
      if (jobs.length === 0 || warned.has(other.schedulerId)) continue
      warned.add(other.schedulerId)
      log.warn('jobs.differ', { other: other.worker, jobs, mend: 'give every livehouse serve the same job files' })
    }
  }
}

/** The jobs that only one of two has, or that are not the same in both. */
function differingJobs(a: Scheduler['jobs'], b: Scheduler['jobs']): readonly string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((job) => a[job] !== b[job]).toSorted()
}

/** Reads what is on record of some jobs now, by name. @throws db.… codes */
export type ReadHistories = (some: readonly Job[]) => Promise<ReadonlyMap<string, JobHistory>>

/** Writes down all jobs of the process first, and again where the clock was ahead when they were written down. */
export function createReadHistories(db: Kysely<Database>, clock: Clock, jobs: readonly Job[]): ReadHistories {
  let since: ReadonlyMap<string, Date> | undefined
  return async (some) => {
    const now = new Date(clock.now())
    if (since === undefined || [...since.values()].some((each) => each > now)) {
      since = await registerJobs(
        db,
        jobs.map(({ name, cron, timeZone, isEnabled }) => ({ job: name, cron, timeZone, isEnabled })),
        now,
      )
    }
    const names = some.map(({ name }) => name)
    const last = await readLastTicks(db, names, now)
    return new Map(
      names.map((name) => [name, { sinceMs: (since?.get(name) ?? now).getTime(), last: last.get(name) }] as const),
    )
  }
}
