import { hasCode } from '../core/errors.ts'
import { wallTimeAt } from '../core/wall-clock.ts'
import { type BudgetSettings, readCallBudget } from '../ledger/call-budget.ts'
import { readChannelList } from '../ledger/channels.ts'
import { readLedgerUnits } from '../ledger/latest-readings.ts'
import { readOpenReadings } from '../ledger/open-readings.ts'
import { readQuarantineGroups } from '../ledger/quarantine/quarantine-reasons.ts'
import { readQuestions } from '../ledger/questionnaires.ts'
import { readRunReports } from '../ledger/runs/run-reports.ts'
import { readAcceptances } from '../ledger/slices/acceptances.ts'
import { readSource } from '../ledger/source.ts'
import { readTableSizes } from '../ledger/table-sizes.ts'
import type { Db } from '../store/database.ts'
import { setLocal } from '../store/driver.ts'
import { readPending } from '../store/migrate.ts'
import { readCauses } from './alerts/read-causes.ts'
import { type JobScope, judgeHealth, type RangeOf, type StreamHealth } from './judge-health.ts'

export interface HealthRequest {
  readonly nowMs: number
  readonly budget: Omit<BudgetSettings, 'timeZone'>
  readonly jobs?: readonly JobScope[]
  /** If not given, every channel is read without bounds. */
  readonly rangeOf?: RangeOf | undefined
  /** The largest number of quarantined items to count; all if not given. */
  readonly mostQuarantined?: number
}

/** The state of the warehouse and what is wrong with it, for `status`, the status page and metrics. */
export type Health = Awaited<ReturnType<typeof readHealth>>

/** The largest number of open readings to list of each kind. */
export const MAX_OPEN = 500
const LAST_RUNS = 12

/** Reads the state of the warehouse. The cost grows with the partitions, not with slices or rows. @throws db.… codes */
export async function readHealth(db: Db, request: HealthRequest) {
  const { nowMs, budget, jobs = [], rangeOf = () => ({}), mostQuarantined } = request
  const source = await readSource(db)
  const timeZone = source?.timeZone ?? 'UTC'
  const facts = {
    readAtMs: nowMs,
    /** The service's zone; UTC until its first page has come. */
    timeZone,
    hasSource: source !== undefined,
    now: wallTimeAt(nowMs, timeZone),
    channels: await readChannelList(db),
    causes: await readCauses(db, new Date(nowMs)),
    /** The known questionnaires by channel, except those missing from the last proven list. */
    questions: await readQuestions(db, 'listed'),
    /** Of active channels and the account. */
    units: await readLedgerUnits(db, timeZone),
    ...(await readOpenReadings(db, MAX_OPEN)),
    acceptances: await readAcceptances(db),
    quarantine: await readQuarantineGroups(db, { limit: mostQuarantined }),
    /** The newest first. */
    runs: await readRunReports(db, { count: LAST_RUNS }),
    sizes: await readTableSizes(db),
    budget: await readCallBudget(db, { ...budget, timeZone }, nowMs),
    rangeOf,
  }
  return { ...facts, ...judgeHealth({ ...facts, jobs }) }
}

/**
 * Finds streams of which a channel that is kept up to date has landed nothing for `maxAgeMs`, or nothing although there
 * is something to read. Also those that landed that far in the future: the service's clock or this machine's was wrong.
 */
export function findStale(found: readonly StreamHealth[], maxAgeMs: number, nowMs: number) {
  return found.flatMap(({ stream, lastRunId, last, stalest = last, isEmpty }) => {
    const ends = [stalest, last].map((unit) => ({ stream, channelId: unit?.channelId, at: unit?.lastLandedAt }))
    const stale = ends.find(({ at }) => Math.abs(nowMs - (at?.getTime() ?? -Infinity)) > maxAgeMs)
    return stale === undefined || (isEmpty && lastRunId === null) ? [] : [stale]
  })
}

/**
 * Reads in one snapshot of the database, so that the results are consistent. Cancels a statement that takes longer
 * than `timeoutMs`.
 * @throws db.… codes; db.refused with SQLSTATE 57014 if a statement took too long
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

/** The answer of `/readyz`. It contains no data of the warehouse. */
export interface Readiness {
  readonly status: 'ready' | 'not ready'
  readonly database: 'ok' | 'unreachable' | 'newer' | 'pending migrations' | 'read-only'
  readonly pending_migrations: readonly string[]
}

/** The answer if the database does not respond. */
export const notReady: Readiness = { status: 'not ready', database: 'unreachable', pending_migrations: [] }

/** Checks whether the database is reachable, takes writes, and has the current schema. Never throws. */
export async function readReadiness(db: Db): Promise<Readiness> {
  try {
    const pending = await readPending(db)
    if (pending.length > 0) return { ...notReady, database: 'pending migrations', pending_migrations: pending }
    // As on a standby, for example after a failover.
    const isReadOnly = db.selectNoFrom((eb) =>
      eb.fn<string>('current_setting', [eb.val('transaction_read_only')]).as('is'),
    )
    if ((await isReadOnly.executeTakeFirstOrThrow()).is === 'on') return { ...notReady, database: 'read-only' }
    return { status: 'ready', database: 'ok', pending_migrations: [] }
  } catch (error) {
    return hasCode(error, 'db.newer') ? { ...notReady, database: 'newer' } : notReady
  }
}
