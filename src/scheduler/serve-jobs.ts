import { LivehouseError } from '../core/errors.ts'
import { sayGone, type Scheduler } from '../state/schedulers.ts'
import { type ClaimedRun, claimTick } from './claim-tick.ts'
import { decide } from './decide.ts'
import { type Health, isOfDatabase } from './health.ts'
import type { Job } from './job.ts'
import { createMeetOthers } from './meet-others.ts'
import { type PerformDeps, performRun } from './perform-run.ts'
import { createReadHistories } from './read-histories.ts'
import { openTimetable, type Timetable } from './timetable.ts'

export interface ServeOptions extends PerformDeps {
  readonly jobs: readonly Job[]
  readonly scheduler: Scheduler
  readonly health: Health
}

/** What other processes do, a run that was interrupted, and a clock that jumps are seen as soon as this. */
const POLL_MS = 30_000
/** How long a database that has gone is left alone. */
const DATABASE_POLL_MS = 5000

/**
 * Runs jobs when they are due, until the signal aborts and what was running has ended. Several at once on one database share the
 * work: each tick is run by one of them. A database that has gone is waited for.
 * @throws what is not the database's to mend: a bug
 */
export async function serveJobs(options: ServeOptions): Promise<void> {
  const { db, clock, log, health, scheduler, jobs } = options
  const ending = new AbortController()
  const signal = AbortSignal.any([options.signal, ending.signal])
  const served = jobs
    .filter(({ isEnabled }) => isEnabled)
    .map((job) => ({ job, timetable: openTimetable(job.cron, job.timeZone) }))
  const meetOthers = createMeetOthers(db, log, scheduler)
  const readHistories = createReadHistories(db, clock, jobs)
  const running = new Map<string, Promise<void>>()

  const perform = async (job: Job, { run, lease }: ClaimedRun): Promise<void> => {
    await using _ = lease
    try {
      await performRun(run, job, lease, { ...options, signal })
    } catch (error) {
      if (isOfDatabase(error)) return health.databaseFails(error)
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
      health.databaseAnswers()
      waitMs = untilNext(served, clock.now())
    } catch (error) {
      if (!isOfDatabase(error)) {
        ending.abort(error)
        break
      }
      health.databaseFails(error)
      waitMs = DATABASE_POLL_MS
    }
    await clock.sleep(waitMs, signal).catch(() => {})
  }
  await Promise.all(running.values())
  await sayGone(db, scheduler.schedulerId).catch(() => {})
  ending.signal.throwIfAborted()
}

interface ServedJob {
  readonly job: Job
  readonly timetable: Timetable
}

function untilNext(served: readonly ServedJob[], nowMs: number): number {
  const waits = served.map(({ timetable }) => (timetable.next(nowMs)?.dueAtMs ?? Infinity) - nowMs)
  return Math.min(POLL_MS, ...waits)
}
