import type { AppContext } from '../app/context.ts'
import type { JobScope } from '../app/judge-health.ts'
import { type HealthRequest, readHealth, readOnly } from '../app/read-health.ts'
import { within } from '../core/clock.ts'
import type { Job } from '../core/define-job.ts'
import { type RunReport, readDailyActivity } from '../ledger/runs/run-reports.ts'
import { readHourlyCalls } from '../ledger/slices/slices-of-runs.ts'
import { readWatchedDays } from '../ledger/table-sizes.ts'
import type { Db } from '../store/database.ts'

/** A job as the page shows it. */
export interface JobView extends JobScope, Pick<Job, 'name' | 'cron' | 'timeZone'> {
  /** Undefined for a job that is off. */
  readonly next: Date | undefined
  /** Undefined before its first run. */
  readonly last: { readonly startedAt: Date; readonly status: RunReport['status'] } | undefined
}

/** The overview counts at most this many items in quarantine. */
export const MAX_QUARANTINED = 100_000

/** Everything that the overview shows, read in one snapshot of the database. */
export type Facts = Awaited<ReturnType<typeof collectFacts>>

export interface FactsDeps extends Pick<HealthRequest, 'budget' | 'rangeOf'>, Pick<AppContext, 'clock' | 'log'> {
  readonly db: Db
  readonly readJobs: () => Promise<readonly JobView[]>
}

/** How long readiness, metrics and the pages that query the database themselves wait for it. */
export const ANSWER_TIMEOUT_MS = 3000

/** Days that charts and timelines show, today included. */
export const TIMELINE_DAYS = 30
/** Hours that charts show, this one included. */
export const CHART_HOURS = 24

const DAY_MS = 86_400_000
/** Longer statements are cancelled. */
const STATEMENT_TIMEOUT_MS = 20_000

/**
 * Reads the facts. The cost grows with the number of partitions and with the slices of a day, never with all slices or
 * with the rows of the warehouse.
 * @throws db.… codes
 */
async function collectFacts({ db, clock, readJobs, budget, rangeOf }: FactsDeps) {
  const jobs = await readJobs()
  return await readOnly(db, STATEMENT_TIMEOUT_MS, async (snapshot) => {
    const nowMs = clock.now()
    const since = new Date(nowMs - TIMELINE_DAYS * DAY_MS)
    const health = await readHealth(snapshot, { nowMs, budget, jobs, rangeOf, mostQuarantined: MAX_QUARANTINED + 1 })
    return {
      ...health,
      activity: await readDailyActivity(snapshot, since, health.timeZone),
      hourly: await readHourlyCalls(snapshot, new Date(nowMs - DAY_MS), health.timeZone),
      // Undefined if there are too many records to add up.
      watched: await readWatchedDays(snapshot, health, since),
      jobs,
    }
  })
}

/** The latest facts, and whether the last attempt to read them failed. */
export interface FactsState {
  /** Undefined before the first successful reading. */
  readonly facts: Facts | undefined
  /** Why the last reading failed or did not end in time; undefined if it succeeded. */
  readonly failure: ReadFailure | undefined
}

export interface ReadFailure {
  readonly error: unknown
  /** When the first of the consecutive failed readings began. */
  readonly sinceMs: number
}

/** Returns the facts; concurrent requests share one reading. Never throws; waits `timeoutMs` (10 s) at most. */
export type ReadFacts = (timeoutMs?: number) => Promise<FactsState>

/** Facts are reused for this many times the duration of their reading, at least 3 seconds; a failure for 3 seconds. */
const REUSE_FACTOR = 20
const MIN_REUSE_MS = 3000
const FACTS_TIMEOUT_MS = 10_000

/** Reads facts on demand, but spends at most a twentieth of the time on reading. */
export function createFactsSource(deps: FactsDeps): ReadFacts {
  const { clock, log } = deps
  let state: FactsState = { facts: undefined, failure: undefined }
  let reading: Promise<true> | undefined
  let [startedAtMs, reuseUntilMs] = [0, -Infinity]
  const read = async (): Promise<true> => {
    startedAtMs = clock.now()
    try {
      state = { facts: await collectFacts(deps), failure: undefined }
      reuseUntilMs = clock.now() + Math.max(MIN_REUSE_MS, REUSE_FACTOR * (clock.now() - startedAtMs))
    } catch (error) {
      // Log an outage once, not at every attempt.
      if (state.failure === undefined) log.warn('page.unread', { err: error })
      state = { facts: state.facts, failure: { error, sinceMs: state.failure?.sinceMs ?? startedAtMs } }
      reuseUntilMs = clock.now() + MIN_REUSE_MS
    }
    reading = undefined
    return true
  }
  return async (timeoutMs = FACTS_TIMEOUT_MS) => {
    if (reading === undefined && clock.now() >= startedAtMs && clock.now() < reuseUntilMs) return state
    reading ??= read()
    if (await within(clock, timeoutMs, reading, false)) return state
    const error = new Error(`reading took longer than ${timeoutMs / 1000} s`)
    return { facts: state.facts, failure: state.failure ?? { error, sinceMs: startedAtMs } }
  }
}
