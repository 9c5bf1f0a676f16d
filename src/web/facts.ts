import type { Kysely } from 'kysely'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import { type Overview, type OverviewQuestion, readOverview } from '../ledger/health.ts'
import { readWalkDays, type WalkDay } from '../ledger/latest-readings.ts'
import { type QuarantineReasons, readQuarantineReasons } from '../ledger/quarantine-reasons.ts'
import { readOnly } from '../ledger/read-only.ts'
import type { DayWatched } from '../ledger/read-watch-hours.ts'
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
