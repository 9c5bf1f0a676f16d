import type { AppContext } from '../app/context.ts'
import type { KeepingJob } from '../app/judge-health.ts'
import { type HealthQuestion, readHealth, readOnly } from '../app/read-health.ts'
import { within } from '../core/clock.ts'
import type { Job } from '../core/define-job.ts'
import { readDailyActivity, type RunReport } from '../ledger/runs/run-reports.ts'
import { readHourlyCalls } from '../ledger/slices/slices-of-runs.ts'
import { readWatchedDays } from '../ledger/table-sizes.ts'
import type { Db } from '../store/database.ts'

/** A job as the page shows it. */
export interface JobView extends KeepingJob, Pick<Job, 'name' | 'cron' | 'timeZone'> {
  /** Undefined for a job that is off. */
  readonly next: Date | undefined
  /** Undefined before its first run. */
  readonly last: { readonly startedAt: Date; readonly status: RunReport['status'] } | undefined
}

/** The overview counts no more items in quarantine. */
export const MOST_QUARANTINED = 100_000

/** Everything that the overview shows, read at one time. */
export type Facts = Awaited<ReturnType<typeof collectFacts>>

export interface FactsDeps extends Pick<HealthQuestion, 'budget' | 'rangeOf'>, Pick<AppContext, 'clock' | 'log'> {
  readonly db: Db
  readonly readJobs: () => Promise<readonly JobView[]>
}

/** How long a request for a part of a page, for readiness or metrics waits for the database. */
export const LONGEST_ANSWER_MS = 3000

/** Days that charts and timelines show, today included. */
export const TIMELINE_DAYS = 30
/** Hours that charts show, this one included. */
export const CHART_HOURS = 24

const DAY_MS = 86_400_000
/** A statement that takes longer is cancelled. */
const LONGEST_STATEMENT_MS = 20_000

/**
 * Reads everything that pages show, in one snapshot of the database. Its cost grows with partitions and the slices of a
 * day, never with all slices or the rows of the warehouse.
 * @throws db.… codes
 */
async function collectFacts({ db, clock, readJobs, budget, rangeOf }: FactsDeps) {
  const jobs = await readJobs()
  return await readOnly(db, LONGEST_STATEMENT_MS, async (snapshot) => {
    const nowMs = clock.now()
    const since = new Date(nowMs - TIMELINE_DAYS * DAY_MS)
    const health = await readHealth(snapshot, { nowMs, budget, jobs, rangeOf, mostQuarantined: MOST_QUARANTINED + 1 })
    return {
      ...health,
      activity: await readDailyActivity(snapshot, since, health.timeZone),
      hourly: await readHourlyCalls(snapshot, new Date(nowMs - DAY_MS), health.timeZone),
      // Undefined for too many records to add up.
      watched: await readWatchedDays(snapshot, health, since),
      jobs,
    }
  })
}

/** What is known at the moment. */
export interface Known {
  /** Undefined before the first reading that succeeded. */
  readonly facts: Facts | undefined
  /** Why the last reading failed, or that it still goes on; undefined where it did not. */
  readonly failure: ReadFailure | undefined
}

export interface ReadFailure {
  readonly error: unknown
  /** When the first of the readings that failed in a row was begun. */
  readonly sinceMs: number
}

/** The facts for many requests, from one reading at a time. Never throws; waits for `longestMs` (10 s) at most. */
export type ReadFacts = (longestMs?: number) => Promise<Known>

/** A reading is kept for this many times its duration, at least three seconds; a failure for three seconds. */
const REST = 20
const SHORTEST_MS = 3000
const LONGEST_WAIT_MS = 10_000

/** Reads facts when they are asked for, but spends at most a twentieth of the time on it. */
export function createFactsSource(deps: FactsDeps): ReadFacts {
  const { clock, log } = deps
  let known: Known = { facts: undefined, failure: undefined }
  let reading: Promise<true> | undefined
  let [startedAtMs, keptUntilMs] = [0, -Infinity]
  const read = async (): Promise<true> => {
    startedAtMs = clock.now()
    try {
      known = { facts: await collectFacts(deps), failure: undefined }
      keptUntilMs = clock.now() + Math.max(SHORTEST_MS, REST * (clock.now() - startedAtMs))
    } catch (error) {
      // Logged once in an outage.
      if (known.failure === undefined) log.warn('page.unread', { err: error })
      known = { facts: known.facts, failure: { error, sinceMs: known.failure?.sinceMs ?? startedAtMs } }
      keptUntilMs = clock.now() + SHORTEST_MS
    }
    reading = undefined
    return true
  }
  return async (longestMs = LONGEST_WAIT_MS) => {
    if (reading === undefined && clock.now() < keptUntilMs) return known
    reading ??= read()
    if (await within(clock, longestMs, reading, false)) return known
    const error = new Error(`it was not read within ${longestMs / 1000} s`)
    return { facts: known.facts, failure: known.failure ?? { error, sinceMs: startedAtMs } }
  }
}
