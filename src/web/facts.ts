import { hasCode } from '../core/errors.ts'
import {
  type DayWatched,
  type Overview,
  type OverviewQuestion,
  readOnly,
  readOverview,
  readWatchHours,
} from '../ledger/health.ts'
import { within } from './health.ts'
import type { Kysely } from 'kysely'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import { readWalkDays, type WalkDay } from '../ledger/latest-readings.ts'
import { type QuarantineReasons, readQuarantineReasons } from '../ledger/quarantine-reasons.ts'
import { type DayActivity, readDailyActivity, type RunReport } from '../ledger/run-reports.ts'

/** A job as the page shows it. */
export interface JobView {
  readonly name: string
  readonly cron: string
  /** IANA. */
  readonly timeZone: string
  /** What it keeps up to date; empty for one that is not run by itself, or reads old days only. */
  readonly streams: readonly StreamName[]
  readonly channels: 'all' | readonly string[] | { readonly group: string }
  /** Undefined for a job that is not run by itself. */
  readonly next: Date | undefined
  readonly isRunning: boolean
  /** Undefined before its first run. */
  readonly last: { readonly startedAt: Date; readonly status: RunReport['status'] | 'interrupted' } | undefined
}

/** Everything that a page shows, read at one time. */
export interface Facts extends Overview {
  readonly walkDays: readonly WalkDay[]
  readonly activity: readonly DayActivity[]
  /** Undefined where it could not be read in time. */
  readonly watched: readonly DayWatched[] | undefined
  readonly quarantine: QuarantineReasons
  readonly jobs: readonly JobView[]
}

/** What facts are collected with. */
export interface FactsDeps extends Pick<OverviewQuestion, 'budget'> {
  readonly db: Kysely<Database>
  readonly clock: Clock
  readonly log: Log
  readonly readJobs: () => Promise<readonly JobView[]>
}

/** Days that charts and timelines show, today's among them. */
export const TIMELINE_DAYS = 30

const DAY_MS = 86_400_000
/** A statement that takes longer is given up: the page is not worth more of the database's time. */
const LONGEST_STATEMENT_MS = 20_000

/**
 * Reads everything that pages show, in one snapshot of the database. What it reads grows with partitions, never with
 * slices or the rows of the warehouse.
 * @throws db.… codes
 */
export async function collectFacts({ db, clock, readJobs, budget }: FactsDeps): Promise<Omit<Facts, 'watched'>> {
  const jobs = await readJobs()
  return await readOnly(db, LONGEST_STATEMENT_MS, async (snapshot) => {
    const overview = await readOverview(snapshot, { nowMs: clock.now(), budget })
    const since = new Date(overview.readAtMs - TIMELINE_DAYS * DAY_MS)
    return {
      ...overview,
      walkDays: await readWalkDays(snapshot, since, overview.timeZone),
      activity: await readDailyActivity(snapshot, since, overview.timeZone),
      quarantine: await readQuarantineReasons(snapshot),
      jobs,
    }
  })
}

/** What is known at the moment. */
export interface Known {
  /** Undefined before the first reading that succeeded. */
  readonly facts: Facts | undefined
  /** Why the last reading failed, or that it still goes on; undefined where it did not. */
  readonly error: unknown
}

/** Facts for many who ask, read by one at a time. Never throws; waits for `longestMs` (10 s) at most. */
export type ReadFacts = (longestMs?: number) => Promise<Known>

/** What was read is kept for so many times as long as it took, and for three seconds at least. */
const REST = 20
const SHORTEST_MS = 3000
const LONGEST_WAIT_MS = 10_000
/** Adding up watch records reads many rows: it may take less of the database's time. */
const WATCHED_REST = 1000
const WATCHED_STATEMENT_MS = 5000
const CANCELED = '57014'

/** Reads facts when they are asked for, and no more often than the database can bear. */
export function createFactsSource(deps: FactsDeps): ReadFacts {
  const { clock, log } = deps
  let known: Known = { facts: undefined, error: undefined }
  const readWatched = withRest(clock, WATCHED_REST, (facts: Omit<Facts, 'watched'>) => readWatchedDays(deps, facts))
  const refresh = withRest(clock, REST, async () => {
    try {
      const facts = await collectFacts(deps)
      known = { facts: { ...facts, watched: await readWatched(facts) }, error: undefined }
    } catch (error) {
      // Once for each time that the database goes away.
      if (known.error === undefined) log.warn('page.unread', { err: error })
      known = { facts: known.facts, error }
      throw error
    }
  })
  return async (longestMs = LONGEST_WAIT_MS) => {
    const isEnded = refresh(undefined).then(
      () => true,
      () => true,
    )
    if (await within(clock, longestMs, isEnded, false)) return known
    return { facts: known.facts, error: known.error ?? new Error(`the database was not read within ${longestMs} ms`) }
  }
}

/** The same work for all who ask at once; its result is kept `rest` times as long as it took, a failure for 3 s. */
function withRest<Given, Result>(
  clock: Clock,
  rest: number,
  work: (given: Given) => Promise<Result>,
): (given: Given) => Promise<Result> {
  let last: Promise<Result> | undefined
  let keptUntilMs = Number.POSITIVE_INFINITY
  return (given) => {
    if (last !== undefined && clock.now() < keptUntilMs) return last
    const startedAt = clock.now()
    keptUntilMs = Number.POSITIVE_INFINITY
    last = work(given).finally(() => {
      keptUntilMs = clock.now() + Math.max(SHORTEST_MS, rest * (clock.now() - startedAt))
    })
    last.catch(() => (keptUntilMs = clock.now() + SHORTEST_MS))
    return last
  }
}

/** Undefined where the database takes too long. */
async function readWatchedDays(
  { db }: FactsDeps,
  { readAtMs, timeZone }: Pick<Facts, 'readAtMs' | 'timeZone'>,
): Promise<readonly DayWatched[] | undefined> {
  const since = new Date((Math.floor(readAtMs / DAY_MS) - TIMELINE_DAYS) * DAY_MS)
  try {
    const days = await readOnly(db, WATCHED_STATEMENT_MS, (snapshot) => readWatchHours(snapshot, since, timeZone))
    return days.slice(-TIMELINE_DAYS)
  } catch (error) {
    if (hasCode(error, 'db.refused') && error.details.sqlState === CANCELED) return undefined
    throw error
  }
}
