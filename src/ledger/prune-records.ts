import { type Kysely, sql } from 'kysely'
import { DAY } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { isDueNotice } from './alerts.ts'
import { distinctValues, runCommands, tellingRun } from './runs.ts'
import { MOST_RUNS_COUNTED } from './job-runs.ts'

/** What names the run of a row and is small. Of the warehouse, `run_id` is a label that may outlive its run. */
const SMALL_TABLES = [
  'missed_rows',
  'unknown_fields',
  'channel_states',
  'source_facts',
  'headers',
  'open_slices',
  'unlisted_questionnaires',
] as const

/** What has an index on `run_id`. */
const INDEXED_TABLES = ['slices', 'quarantine', 'acceptance_uses', 'job_runs'] as const

/** Every table of `livehouse_ops` that names runs; one of these rows keeps its run. */
export const REFERRING_TABLES: readonly string[] = [...SMALL_TABLES, ...INDEXED_TABLES]

/** What one statement deletes of old records. */
interface Pruning {
  /** What is older than this. */
  readonly before: Date
  readonly now: Date
  /** So many rows. */
  readonly most: number
}

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
  for (const prune of [pruneJobRuns, pruneBackfills, pruneBudgetDays, pruneAlerts, pruneRuns]) {
    for (let statement = 0; statement < MOST_STATEMENTS && !signal.aborted; statement += 1) {
      const rows = await prune(db, some)
      gone += rows
      if (rows < PRUNED_AT_ONCE) break
    }
  }
  return gone
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

/**
 * Deletes old runs of jobs, at most so many. Of each job those stay that schedules, alerts and pages go by: the last time at which it was due, the
 * run that was begun last, and the last that ended.
 * @returns how many are gone
 */
async function pruneJobRuns(db: Kysely<Database>, { before, now, most }: Pruning): Promise<number> {
  const { rows } = await sql`
    with names as materialized (select value as job from ${distinctValues('livehouse_ops.job_runs', 'job')} as found),
    kept as materialized (
      select last.job_run_id from names cross join lateral (
        (select job_run_id from livehouse_ops.job_runs where job = names.job and local_time is not null and due_at <= ${now}
          order by due_at desc, is_repeat desc limit 1)
        union all
        (select job_run_id from livehouse_ops.job_runs where job = names.job and status <> 'skipped'
          order by started_at desc, job_run_id desc limit 1)
        union all
        (select job_run_id from livehouse_ops.job_runs where job = names.job and status = 'ended'
          order by started_at desc limit ${MOST_RUNS_COUNTED})
      ) as last
    ),
    old as (
      select first.job_run_id from names cross join lateral (
        select job_run_id from livehouse_ops.job_runs
        where job = names.job and started_at < ${before} and job_run_id not in (select job_run_id from kept)
        order by started_at limit ${most}) as first
      limit ${most}
    )
    delete from livehouse_ops.job_runs where job_run_id in (
      select job_run_id from livehouse_ops.job_runs where job_run_id in (select job_run_id from old)
      order by job_run_id for update skip locked)
    returning job_run_id`.execute(db)
  return rows.length
}

/** The last runs of each command stay, however they ended, and those that something refers to. */
async function pruneRuns(db: Kysely<Database>, { before, most }: Pruning): Promise<number> {
  const unnamed = [
    ...SMALL_TABLES.map((table) => sql`run_id not in (select run_id from ${sql.table(`livehouse_ops.${table}`)})`),
    ...INDEXED_TABLES.map((table) => {
      return sql`not exists (select from ${sql.table(`livehouse_ops.${table}`)} as referring where referring.run_id = old.run_id)`
    }),
  ]
  const { rows } = await sql`
    with kept as materialized (
      select last.run_id from ${runCommands} as commands cross join lateral (
        select run_id from ${tellingRun} as telling
        union all
        (select run_id from livehouse_ops.runs where command = commands.value order by finished_at desc nulls last, run_id desc limit 1)
        union all
        -- Killed.
        (select run_id from livehouse_ops.runs where command = commands.value and finished_at is null order by run_id desc limit 1)
      ) as last
    )
    delete from livehouse_ops.runs where run_id in (
      select run_id from livehouse_ops.runs as old
      where started_at < ${before} and (finished_at is null or finished_at < ${before})
        and run_id not in (select run_id from kept) and ${sql.join(unnamed, sql` and `)}
      order by run_id limit ${most} for update skip locked)
    returning run_id`.execute(db)
  return rows.length
}
