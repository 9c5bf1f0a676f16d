import { type Kysely, sql } from 'kysely'
import { DAY } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { isDueNotice } from './alerts.ts'
import { saysHowItStands } from './runs.ts'

/** Every table of `livehouse_ops` that names runs; one of these rows keeps its run. In the warehouse `run_id` may outlive its run. */
export const REFERRING_TABLES: readonly string[] = [
  'acceptance_uses',
  'channel_states',
  'headers',
  'job_runs',
  'missed_rows',
  'open_slices',
  'quarantine',
  'slices',
  'source_facts',
  'unknown_fields',
  'unlisted_questionnaires',
]

/** Of these, a year can be compared with the one before. */
export const KEPT_DAYS = 400
/** Rows of one statement, so that none is long. */
const PRUNED_AT_ONCE = 1000
/** Statements for each table, so that no run ends late; the next one goes on. */
const MOST_STATEMENTS = 10

/**
 * Deletes what is on record beside the ledger, grows day by day, and is older than `KEPT_DAYS`: runs of jobs, runs, backfills that
 * are over, days of the call budget, alerts that are over and were told. What something refers to stays, and of each kind what no
 * later one has taken the place of. The ledger itself (see `pruneSlices`) and quarantine are not touched. Ends early, without an
 * error, when the signal aborts.
 * @returns how many rows are gone by it
 */
export async function pruneRecords(db: Kysely<Database>, now: Date, signal: AbortSignal): Promise<number> {
  const before = new Date(now.getTime() - KEPT_DAYS * DAY * 1000)
  let gone = 0
  // Runs of jobs refer to runs.
  for (const old of [oldJobRuns, oldBackfills, oldBudgetDays, oldAlerts, oldRuns]) {
    for (let statement = 0; statement < MOST_STATEMENTS && !signal.aborted; statement += 1) {
      const { numDeletedRows } = await old(db, before).executeTakeFirstOrThrow()
      gone += Number(numDeletedRows)
      if (numDeletedRows < PRUNED_AT_ONCE) break
    }
  }
  return gone
}

/** Those before the last of their job that has ended, by their start, and by their schedule where they were due by it. */
function oldJobRuns(db: Kysely<Database>, before: Date) {
  return db.deleteFrom('livehouse_ops.job_runs').where('job_run_id', 'in', (eb) =>
    eb
      .selectFrom('livehouse_ops.job_runs as old')
      .innerJoin(
        (of) =>
          of
            .selectFrom('livehouse_ops.job_runs')
            .select(({ fn }) => ['job', fn.max('started_at').as('started_at'), fn.max('due_at').as('due_at')])
            .where('status', '=', 'ended')
            .groupBy('job')
            .as('latest'),
        (join) => join.onRef('latest.job', '=', 'old.job').onRef('latest.started_at', '>', 'old.started_at'),
      )
      .select('old.job_run_id')
      .where('old.started_at', '<', before)
      .where((or) => or.or([or('old.due_at', 'is', null), or('latest.due_at', '>', or.ref('old.due_at'))]))
      .orderBy('old.job_run_id')
      .limit(PRUNED_AT_ONCE)
      .forUpdate('old')
      .skipLocked(),
  )
}

/** Until slices are joined, the ledger names the backfill of each. */
function oldBackfills(db: Kysely<Database>, before: Date) {
  return db.deleteFrom('livehouse_ops.backfills').where('backfill_id', 'in', (eb) =>
    eb
      .selectFrom('livehouse_ops.backfills as old')
      .select('backfill_id')
      .where('status', '!=', 'open')
      .where('finished_at', '<', before)
      .where(isUnnamed(['slices', 'open_slices'], 'backfill_id'))
      .orderBy('backfill_id')
      .limit(PRUNED_AT_ONCE)
      .forUpdate()
      .skipLocked(),
  )
}

/** A scope's latest day stays: no call is ever taken of an earlier one. A day less, so that it is over in every zone. */
function oldBudgetDays(db: Kysely<Database>, before: Date) {
  const day = new Date(before.getTime() - DAY * 1000).toISOString().slice(0, 10)
  return db
    .deleteFrom('livehouse_ops.call_budget as old')
    .where('service_day', '<', day)
    .where((of) =>
      of.exists(
        of
          .selectFrom('livehouse_ops.call_budget as later')
          .select('later.scope')
          .whereRef('later.scope', '=', 'old.scope')
          .whereRef('later.service_day', '>', 'old.service_day'),
      ),
    )
}

function oldAlerts(db: Kysely<Database>, before: Date) {
  return db.deleteFrom('livehouse_ops.alerts').where('alert_id', 'in', (eb) =>
    eb
      .selectFrom('livehouse_ops.alerts')
      .select('alert_id')
      .where('cleared_at', '<', before)
      .where((of) => of.not(isDueNotice))
      .orderBy('alert_id')
      .limit(PRUNED_AT_ONCE)
      .forUpdate()
      .skipLocked(),
  )
}

/** Those that nothing refers to, and after which another says how their command stands. */
function oldRuns(db: Kysely<Database>, before: Date) {
  return db.deleteFrom('livehouse_ops.runs').where('run_id', 'in', (eb) =>
    eb
      .selectFrom('livehouse_ops.runs as old')
      .innerJoin(
        (of) =>
          of
            .selectFrom('livehouse_ops.runs')
            .select(({ fn }) => ['command', fn.max('run_id').as('last_id')])
            .where(saysHowItStands)
            .groupBy('command')
            .as('latest'),
        (join) => join.onRef('latest.command', '=', 'old.command').onRef('latest.last_id', '>', 'old.run_id'),
      )
      .select('old.run_id')
      .where('old.started_at', '<', before)
      .where((or) => or.or([or('old.finished_at', 'is', null), or('old.finished_at', '<', before)]))
      .where(isUnnamed(REFERRING_TABLES, 'run_id'))
      .orderBy('old.run_id')
      .limit(PRUNED_AT_ONCE)
      .forUpdate('old')
      .skipLocked(),
  )
}

/** Whether no row of these tables names the number of `old`. */
function isUnnamed(tables: readonly string[], column: string) {
  const name = sql.ref(column)
  const named = tables.map(
    (table) => sql`select ${name} from ${sql.table(`livehouse_ops.${table}`)} where ${name} = old.${name}`,
  )
  return sql<boolean>`not exists (${sql.join(named, sql` union all `)})`
}
