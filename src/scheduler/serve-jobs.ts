import type { AppContext } from '../app/context.ts'
import type { Job } from '../core/define-job.ts'
import { LivehouseError, messageOf } from '../core/errors.ts'
import { readHeldJobs, readLastTicks, registerJobs } from '../ledger/jobs.ts'
import { thisProcess } from '../ledger/leases/leases.ts'
import type { Db } from '../store/database.ts'
import { isMissingTable } from '../store/translate-error.ts'
import type { DueRun } from './perform-run.ts'
import { openTimetable } from './timetable.ts'

export interface ServeOptions extends Pick<AppContext, 'clock' | 'log' | 'signal'> {
  readonly db: Db
  readonly jobs: readonly Job[]
  /** Queues a run, unless it has been queued before. */
  readonly send: (run: DueRun) => Promise<void>
  /** Called every few seconds while the database is lost. */
  readonly restore?: () => Promise<void>
}

/** The longest wait: other processes may change the state of jobs, and the clock may jump. */
const POLL_MS = 30_000
const DATABASE_POLL_MS = 5000

/**
 * Queues a run of each job when it is due, until the signal aborts; of several missed ticks, only the last. Waits for a
 * lost database to come back.
 * @throws any error that does not come from the database (a bug), and if its tables are gone: a restart creates them
 */
export async function serveJobs(options: ServeOptions): Promise<void> {
  const { db, clock, log, signal, jobs, send, restore } = options
  const active = jobs
    .filter(({ isEnabled }) => isEnabled)
    .map((job) => ({ job, timetable: openTimetable(job.cron, job.timeZone) }))
  log.info('serve.started', { worker: thisProcess(), jobs: active.map(({ job }) => job.name) })
  const readHistories = createReadHistories(db, clock, jobs)
  let lostAtMs: number | undefined
  while (!signal.aborted) {
    let waitMs = DATABASE_POLL_MS
    try {
      const afterMs = await readHistories()
      const held = await readHeldJobs(db, [...afterMs.keys()])
      // A tick that comes while its job is running is queued when the run has ended.
      for (const { job, timetable } of active.filter(({ job: { name } }) => !held.has(name))) {
        const tick = timetable.last(afterMs.get(job.name) ?? clock.now(), clock.now())
        if (tick !== undefined) await send({ job, tick })
      }
      if (lostAtMs !== undefined) log.info('database.back', { afterMs: clock.now() - lostAtMs })
      lostAtMs = undefined
      const nowMs = clock.now()
      waitMs = Math.min(POLL_MS, ...active.map(({ timetable }) => (timetable.next(nowMs)?.dueAtMs ?? Infinity) - nowMs))
    } catch (error) {
      if (!(error instanceof LivehouseError) || !error.code.startsWith('db.') || isMissingTable(error)) throw error
      if (lostAtMs === undefined) log.error('database.lost', { reason: error.message })
      lostAtMs ??= clock.now()
      await restore?.().catch((reason: unknown) => log.error('database.notRestored', { reason: messageOf(reason) }))
    }
    await clock.sleep(waitMs, signal).catch(() => {})
  }
}

/**
 * @returns a function that reads after which time each job may be due: its last recorded tick, or when it was first
 * scheduled. It records all jobs the first time, and again if the clock was ahead then.
 */
function createReadHistories(db: Db, clock: ServeOptions['clock'], jobs: readonly Job[]) {
  const names = jobs.map(({ name }) => name)
  const schedules = jobs.map(({ name, cron, timeZone, isEnabled }) => ({ job: name, cron, timeZone, isEnabled }))
  let since: ReadonlyMap<string, Date> | undefined
  return async (): Promise<ReadonlyMap<string, number>> => {
    const now = new Date(clock.now())
    if (since === undefined || [...since.values()].some((each) => each > now))
      since = await registerJobs(db, schedules, now)
    const last = await readLastTicks(db, names, now)
    return new Map(
      [...since].map(([name, at]) => [name, Math.max(at.getTime(), last.get(name)?.dueAt?.getTime() ?? 0)]),
    )
  }
}
