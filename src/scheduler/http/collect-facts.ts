import type { Kysely } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Database } from '../../db/database.ts'
import { type OverviewQuestion, readOverview } from '../../state/health.ts'
import { readWalkDays } from '../../state/latest-readings.ts'
import { readDailyActivity } from '../../state/run-reports.ts'
import { readOnly } from '../../state/read-only.ts'
import { readQuarantineReasons } from '../../state/quarantine-reasons.ts'
import type { Facts, JobView } from './facts.ts'
import { TIMELINE_DAYS } from './timeline.ts'

/** What facts are collected with. */
export interface FactsDeps extends Pick<OverviewQuestion, 'budget'> {
  readonly db: Kysely<Database>
  readonly clock: Clock
  readonly log: Log
  readonly readJobs: () => Promise<readonly JobView[]>
}

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
