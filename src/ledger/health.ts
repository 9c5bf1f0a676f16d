import type { Kysely } from 'kysely'
import { type WallTime, wallTimeAt } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { type BudgetSettings, type CallBudget, readCallBudget } from './call-budget.ts'
import { type ListedChannel, readChannelList } from './channel-states.ts'
import { type LedgerUnit, readLedgerUnits } from './latest-readings.ts'
import { type OpenReadings, readOpenReadings } from './open-readings.ts'
import { readRunReports, type RunReport } from './run-reports.ts'
import { readTableSizes, type TableSize } from './read-table-sizes.ts'
import { readSource } from './source.ts'

/** How the ledger stands: what `status`, the status page, metrics and alerts go by. */
export interface Health extends OpenReadings {
  /** The service's; UTC before the first run. */
  readonly timeZone: string
  /** Whether a run has said whose records these are. */
  readonly hasSource: boolean
  /** All of them, by id. */
  readonly channels: readonly ListedChannel[]
  /** Of active channels and the account. */
  readonly units: readonly LedgerUnit[]
}

/** That, and what else `status`, the page and metrics say of the warehouse. */
export interface Overview extends Health {
  readonly readAtMs: number
  /** What the service's wall clock showed when this was read. */
  readonly now: WallTime
  /** The last ones, the newest first. */
  readonly runs: readonly RunReport[]
  readonly sizes: ReadonlyMap<string, TableSize>
  /** The calls on 4.6 of today. */
  readonly budget: CallBudget
}

export interface OverviewQuestion {
  readonly nowMs: number
  /** Of 4.6, as set. */
  readonly budget: Pick<BudgetSettings, 'v1Budget' | 'v1BudgetScope'>
}

/** As many open readings of each kind are listed. */
export const MOST_OPEN = 500
const LAST_RUNS = 12

/** What that costs grows with the partitions, never with slices or rows. @throws db.… codes */
export async function readHealth(db: Kysely<Database>): Promise<Health> {
  const source = await readSource(db)
  const timeZone = source?.timeZone ?? 'UTC'
  return {
    timeZone,
    hasSource: source !== undefined,
    channels: await readChannelList(db),
    units: await readLedgerUnits(db, timeZone),
    ...(await readOpenReadings(db, MOST_OPEN)),
  }
}

/** The same. @throws db.… codes */
export async function readOverview(db: Kysely<Database>, { nowMs, budget }: OverviewQuestion): Promise<Overview> {
  const health = await readHealth(db)
  const { timeZone } = health
  return {
    ...health,
    readAtMs: nowMs,
    now: wallTimeAt(nowMs, timeZone),
    runs: await readRunReports(db, { kind: 'last', count: LAST_RUNS }),
    sizes: await readTableSizes(db),
    budget: await readCallBudget(db, { ...budget, timeZone }, nowMs),
  }
}
