import { type Kysely, sql } from 'kysely'
import { DAY } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'
import { isDueNotice } from './alerts.ts'
import { distinctValues } from './distinct-values.ts'
import { pruneJobRuns } from './job-runs.ts'
import { pruneRuns, type Pruning } from './prune-runs.ts'

/** Of these, a year can be compared with the one before. */
export const KEPT_DAYS = 400
/** Rows of one statement, so that none is long. */
export const PRUNED_AT_ONCE = 1000
/** Statements for each table, so that no run ends late; the next one goes on. */
const MOST_STATEMENTS = 10

/**
 * Deletes what is on record beside the ledger, grows day by day, and is older than `KEPT_DAYS`: runs of jobs, runs, backfills that
 * are over, days of the call budget, alerts that are over and were told. What is still looked at stays: the last of each kind, and all
 * that something refers to. The ledger itself (see `pruneSlices`) and quarantine are not touched. Ends early, without an error, when the signal aborts.
 * @returns how many rows are gone by it
 */
export async function pruneRecords(db: Kysely<Database>, now: Date, signal: AbortSignal): Promise<number> {
  const before = new Date(now.getTime() - KEPT_DAYS * DAY * 1000)
  const some = { before, now, most: PRUNED_AT_ONCE }
  let gone = 0
  // Runs of jobs refer to runs.
  for (const prune of [pruneJobRuns, pruneBackfills, pruneBudgetDays, pruneAlerts]) {
    for (let statement = 0; statement < MOST_STATEMENTS && !signal.aborted; statement += 1) {
      const rows = await prune(db, some)
      gone += rows
      if (rows < PRUNED_AT_ONCE) break
    }
  }
  return gone + (await pruneRuns(db, some, MOST_STATEMENTS, signal))
}

/** The ledger names the backfill of a slice until slices are joined. */
async function pruneBackfills(db: Kysely<Database>, { before, most }: Pruning): Promise<number> {
  const { rows } = await sql`
    delete from livehouse_ops.backfills where backfill_id in (
      select backfill_id from livehouse_ops.backfills as old
      where status <> 'open' and finished_at < ${before}
        and not exists (select from livehouse_ops.slices where slices.backfill_id = old.backfill_id)
        and not exists (select from livehouse_ops.open_slices where open_slices.backfill_id = old.backfill_id)
      order by backfill_id limit ${most} for update skip locked)
    returning backfill_id`.execute(db)
  return rows.length
}

/** A scope's latest day stays: no call is ever taken of an earlier one. */
async function pruneBudgetDays(db: Kysely<Database>, { before, most }: Pruning): Promise<number> {
  const { rows } = await sql`
    with old as (
      select scope, service_day
      from ${distinctValues('livehouse_ops.call_budget', 'scope')} as scopes
      cross join lateral (
        select scope, service_day from livehouse_ops.call_budget
        -- A day less: whatever the service's zone, it is over by then.
        where scope = scopes.value and service_day < (${before}::timestamptz at time zone 'UTC')::date - 1
          and service_day < (select max(service_day) from livehouse_ops.call_budget as latest where latest.scope = scopes.value)
        limit ${most}) as days
      limit ${most}
    )
    delete from livehouse_ops.call_budget as budget using old
    where budget.scope = old.scope and budget.service_day = old.service_day
    returning budget.scope`.execute(db)
  return rows.length
}

async function pruneAlerts(db: Kysely<Database>, { before, most }: Pruning): Promise<number> {
  const { rows } = await sql`
    delete from livehouse_ops.alerts where alert_id in (
      select alert_id from livehouse_ops.alerts where cleared_at < ${before} and not ${isDueNotice}
      order by alert_id limit ${most} for update skip locked)
    returning alert_id`.execute(db)
  return rows.length
}
