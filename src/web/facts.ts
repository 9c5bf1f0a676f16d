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
 * Reads everything that pages show, in one snapshot of the database. What it reads grows with partitions, never with slices or the
 * rows of the warehouse.
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
  /** Why the last reading failed; undefined where it did not. */
  readonly error: unknown
}

/** Facts for many who ask, read from the database by one at a time. */
export interface FactsSource {
  /** Never throws, and waits no longer than `longestMs` (10 s when not given). */
  readonly read: (longestMs?: number) => Promise<Known>
  /** The next reading asks the database again. */
  readonly expire: () => void
}

/** Facts this young are as good as new. */
const SHORTEST_MS = 3000
/** Reading takes at most a twentieth of the time, however large the ledger is. */
const REST = 20
/** While new facts are read, those that are not older than this are shown to whom would have to wait. */
const LONGEST_MS = 300_000
const PATIENCE_MS = 1000
const LONGEST_WAIT_MS = 10_000
/** Adding up watch records reads many rows: it takes at most a hundredth of the time. */
const WATCHED_REST = 100
const SHORTEST_WATCHED_MS = 30_000
/** After it took too long. */
const WATCHED_PAUSE_MS = 3_600_000
const WATCHED_STATEMENT_MS = 5000
const CANCELED = '57014'

interface Read {
  readonly facts: Facts
  readonly atMs: number
  readonly tookMs: number
}

interface Watched {
  readonly days: readonly DayWatched[] | undefined
  readonly untilMs: number
}

/** Reads facts when they are asked for, and no more often than the database can bear. */
export function createFactsSource(deps: FactsDeps): FactsSource {
  const { clock } = deps
  let last: Read | undefined
  let failed: { readonly error: unknown; readonly atMs: number } | undefined
  let watched: Watched | undefined
  let reading: Promise<void> | undefined
  let isExpired = false

  const refresh = async (): Promise<void> => {
    const startedAt = clock.now()
    isExpired = false
    try {
      const facts = await collectFacts(deps)
      if (watched === undefined || watched.untilMs <= startedAt) watched = await readWatched(deps, facts)
      const atMs = clock.now()
      last = { facts: { ...facts, watched: watched.days }, atMs, tookMs: atMs - startedAt }
      failed = undefined
    } catch (error) {
      // Once for each time that the database goes away.
      if (failed === undefined) deps.log.warn('page.unread', { err: error })
      failed = { error, atMs: clock.now() }
    } finally {
      reading = undefined
    }
  }
  const known = (): Known => ({ facts: last?.facts, error: failed?.error })
  const isFresh = (): boolean => {
    const now = clock.now()
    if (failed !== undefined) return now - failed.atMs < SHORTEST_MS
    return last !== undefined && now - last.atMs < (isExpired ? last.tookMs : Math.max(SHORTEST_MS, REST * last.tookMs))
  }
  return {
    read: async (longestMs = LONGEST_WAIT_MS) => {
      if (isFresh()) return known()
      reading ??= refresh()
      const isShowable = last !== undefined && clock.now() - last.atMs < LONGEST_MS
      const waitMs = isShowable ? Math.min(PATIENCE_MS, longestMs) : longestMs
      const isRead = await within(
        clock,
        waitMs,
        reading.then(() => true),
        false,
      )
      if (isRead || isShowable) return known()
      return { facts: last?.facts, error: failed?.error ?? new Error(`the database was not read within ${waitMs} ms`) }
    },
    expire: () => {
      isExpired = true
    },
  }
}

async function readWatched({ db, clock }: FactsDeps, facts: Omit<Facts, 'watched'>): Promise<Watched> {
  const since = new Date((Math.floor(facts.readAtMs / 86_400_000) - TIMELINE_DAYS) * 86_400_000)
  const startedAt = clock.now()
  const restUntil = (now: number) => now + Math.max(SHORTEST_WATCHED_MS, WATCHED_REST * (now - startedAt))
  try {
    const days = await readOnly(db, WATCHED_STATEMENT_MS, (snapshot) => readWatchHours(snapshot, since, facts.timeZone))
    return { days: days.slice(-TIMELINE_DAYS), untilMs: restUntil(clock.now()) }
  } catch (error) {
    if (!hasCode(error, 'db.refused') || error.details.sqlState !== CANCELED) throw error
    return { days: undefined, untilMs: startedAt + WATCHED_PAUSE_MS }
  }
}
