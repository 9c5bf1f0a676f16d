import { sql } from 'kysely'
import { type WallTime, wallTimeAt } from '../core/wall-clock.ts'
import type { Db } from '../store/database.ts'
import { setLocal } from '../store/driver.ts'
import { type BudgetSettings, type CallBudget, readCallBudget } from './call-budget.ts'
import { type ListedChannel, readChannelList } from './channels.ts'
import { type LedgerUnit, readLedgerUnits } from './latest-readings.ts'
import { type OpenReadings, readOpenReadings } from './open-readings.ts'
import { readRunReports, type RunReport } from './run-reports.ts'
import { readSource } from './source.ts'

/** The state of the ledger, as `status`, the status page and metrics show it. */
export interface Overview extends OpenReadings {
  readonly readAtMs: number
  /** The service's; UTC before the first run. */
  readonly timeZone: string
  /** Whether a run has recorded the source of the rows. */
  readonly hasSource: boolean
  /** What the service's wall clock showed when this was read. */
  readonly now: WallTime
  readonly channels: readonly ListedChannel[]
  /** Of active channels and the account. */
  readonly units: readonly LedgerUnit[]
  /** The last ones, the newest first. */
  readonly runs: readonly RunReport[]
  readonly sizes: ReadonlyMap<string, TableSize>
  /** The calls on 4.6 of today. */
  readonly budget: CallBudget
}

export interface OverviewQuestion {
  readonly nowMs: number
  readonly budget: Omit<BudgetSettings, 'timeZone'>
}

/** Open readings that are listed of each kind. */
export const MOST_OPEN = 500
const LAST_RUNS = 12

/** The cost grows with the partitions, never with slices or rows. @throws db.… codes */
export async function readOverview(db: Db, { nowMs, budget }: OverviewQuestion): Promise<Overview> {
  const source = await readSource(db)
  const timeZone = source?.timeZone ?? 'UTC'
  return {
    readAtMs: nowMs,
    timeZone,
    hasSource: source !== undefined,
    now: wallTimeAt(nowMs, timeZone),
    channels: await readChannelList(db),
    units: await readLedgerUnits(db, timeZone),
    ...(await readOpenReadings(db, MOST_OPEN)),
    runs: await readRunReports(db, { count: LAST_RUNS }),
    sizes: await readTableSizes(db),
    budget: await readCallBudget(db, { ...budget, timeZone }, nowMs),
  }
}

/**
 * Reads within one snapshot of the database, so that what is read fits together. A statement that takes longer than
 * `timeoutMs` is cancelled.
 * @throws db.… codes; db.refused with state 57014 for a statement that took too long
 */
export async function readOnly<T>(db: Db, timeoutMs: number, read: (snapshot: Db) => Promise<T>): Promise<T> {
  return await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (snapshot) => {
      await setLocal(snapshot, { statement_timeout: String(timeoutMs) })
      return await read(snapshot)
    })
}

/** How many rows a table has. */
export interface TableSize {
  readonly rows: number
  /** Counted; else the estimate of the database's statistics. */
  readonly isExact: boolean
}

/** Tables of up to so many rows are counted: that takes no noticeable time. */
const MOST_COUNTED = 50_000

/** The tables of schema `livehouse`, by name. Of a larger table, the estimate, but at least `MOST_COUNTED`. */
async function readTableSizes(db: Db): Promise<ReadonlyMap<string, TableSize>> {
  // The builder does not know the catalogs.
  const { rows: tables } = await sql<{ name: string; estimate: number }>`
    select relname::text as name, reltuples::float8 as estimate from pg_class
    where relnamespace = to_regnamespace('livehouse') and relkind in ('r', 'p')`.execute(db)
  const sizes = new Map<string, TableSize>()
  for (const { name, estimate } of tables) {
    const rows = db.selectFrom(sql.table(`livehouse.${name}`).as('t')).select((eb) => eb.lit(1).as('one'))
    const counting = db.selectFrom(rows.limit(MOST_COUNTED + 1).as('counted'))
    const { found } = await counting.select(({ fn }) => fn.countAll().as('found')).executeTakeFirstOrThrow()
    const count = Number(found)
    const isExact = count <= MOST_COUNTED
    sizes.set(name, { rows: isExact ? count : Math.max(estimate, MOST_COUNTED), isExact })
  }
  return sizes
}

/** What viewers watched in one day of the service, by when they came. */
export interface DayWatched {
  readonly day: string
  readonly hours: number
}

/** Adding up more records takes longer than a page may. */
const MOST_ADDED_UP = 1_000_000

/** The days since `since` on which viewers watched, in order; undefined where there are too many records. */
export async function readWatchedDays(
  db: Db,
  { sizes, timeZone }: Pick<Overview, 'sizes' | 'timeZone'>,
  since: Date,
): Promise<readonly DayWatched[] | undefined> {
  const size = sizes.get('watch_records')
  // The estimate is too small to be true: the statistics are older than the rows.
  const isUnknown = size !== undefined && !size.isExact && size.rows <= MOST_COUNTED
  if (isUnknown || (size?.rows ?? 0) > MOST_ADDED_UP) return undefined
  // The builder does not know the tables of streams.
  const { rows } = await sql<DayWatched>`
    select (entered_at at time zone ${timeZone})::date::text as day, sum(watch_seconds) / 3600::float8 as hours
    from livehouse.watch_records where entered_at >= ${since} group by day order by day`.execute(db)
  return rows
}
