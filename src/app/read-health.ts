import { hasCode } from '../core/errors.ts'
import { wallTimeAt } from '../core/wall-clock.ts'
import { readAcceptances } from '../ledger/slices/acceptances.ts'
import { type BudgetSettings, readCallBudget } from '../ledger/call-budget.ts'
import { readChannelList } from '../ledger/channels.ts'
import { readLedgerUnits } from '../ledger/latest-readings.ts'
import { readOpenReadings } from '../ledger/open-readings.ts'
import { readQuarantineGroups } from '../ledger/quarantine/quarantine-reasons.ts'
import { readQuestions } from '../ledger/questionnaires.ts'
import { readRunReports } from '../ledger/runs/run-reports.ts'
import { readSource } from '../ledger/source.ts'
import { readTableSizes } from '../ledger/table-sizes.ts'
import type { Db } from '../store/database.ts'
import { setLocal } from '../store/driver.ts'
import { readPending } from '../store/migrate.ts'
import { readCauses } from './alerts/read-causes.ts'
import { judgeHealth, type KeepingJob, type RangeOf, type StreamHealth } from './judge-health.ts'

export interface HealthQuestion {
  readonly nowMs: number
  readonly budget: Omit<BudgetSettings, 'timeZone'>
  readonly jobs?: readonly KeepingJob[]
  /** No bounds when not given. */
  readonly rangeOf?: RangeOf | undefined
  /** Items in quarantine that are counted; all when not given. */
  readonly mostQuarantined?: number
}

/** How the warehouse stands, and what is wrong with it: what `status`, the status page and metrics show. */
export type Health = Awaited<ReturnType<typeof readHealth>>

/** Open readings that are listed of each kind. */
export const MOST_OPEN = 500
const LAST_RUNS = 12

/** The cost grows with the partitions, never with slices or rows. @throws db.… codes */
export async function readHealth(db: Db, question: HealthQuestion) {
  const { nowMs, budget, jobs = [], rangeOf = () => ({}), mostQuarantined } = question
  const source = await readSource(db)
  const timeZone = source?.timeZone ?? 'UTC'
  const facts = {
    readAtMs: nowMs,
    /** The service's; UTC before its first page. */
    timeZone,
    /** Whether the source of the rows is on record. */
    hasSource: source !== undefined,
    /** What the service's wall clock showed when this was read. */
    now: wallTimeAt(nowMs, timeZone),
    channels: await readChannelList(db),
    causes: await readCauses(db, new Date(nowMs)),
    /** The known questionnaires by channel, without those that the last proven list no longer had. */
    questions: await readQuestions(db, 'listed'),
    /** Of active channels and the account. */
    units: await readLedgerUnits(db, timeZone),
    ...(await readOpenReadings(db, MOST_OPEN)),
    acceptances: await readAcceptances(db),
    quarantine: await readQuarantineGroups(db, { limit: mostQuarantined }),
    /** The last ones, the newest first. */
    runs: await readRunReports(db, { count: LAST_RUNS }),
    sizes: await readTableSizes(db),
    /** The calls on 4.6 of today. */
    budget: await readCallBudget(db, { ...budget, timeZone }, nowMs),
    rangeOf,
  }
  return { ...facts, ...judgeHealth({ ...facts, jobs }) }
}

/**
 * The streams whose newest landed slice is older than this, or that have none though there is something to read. So is
 * one that lies as far ahead: the clock of the service or of this machine was wrong.
 */
export function findStale(found: readonly StreamHealth[], maxAgeMs: number, nowMs: number): readonly StreamHealth[] {
  return found.filter(({ lastRunId, last, isEmpty }) => {
    const ageMs = nowMs - (last?.lastLandedAt?.getTime() ?? -Infinity)
    return !(isEmpty && lastRunId === null) && Math.abs(ageMs) > maxAgeMs
  })
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

/** What `/readyz` answers: the state of process and database, no data. */
export interface Readiness {
  readonly status: 'ready' | 'not ready'
  readonly database: 'ok' | 'unreachable' | 'newer' | 'pending migrations'
  readonly pending_migrations: readonly string[]
}

/** The answer where the database gives none. */
export const notReady: Readiness = { status: 'not ready', database: 'unreachable', pending_migrations: [] }

/** Whether the database can be worked with. Never throws. */
export async function readReadiness(db: Db): Promise<Readiness> {
  try {
    const pending = await readPending(db)
    if (pending.length > 0) return { ...notReady, database: 'pending migrations', pending_migrations: pending }
    return { status: 'ready', database: 'ok', pending_migrations: [] }
  } catch (error) {
    return hasCode(error, 'db.newer') ? { ...notReady, database: 'newer' } : notReady
  }
}
