import { type Kysely, sql } from 'kysely'
import type { Database } from '../store/database.ts'
import { isDueNotice } from './alerts.ts'

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

/** A year can be compared with the one before. */
const KEPT_DAYS = 400

/**
 * Deletes what is on record beside the ledger and is older than `KEPT_DAYS`: runs of jobs that have ended, backfills that are over, days
 * of the call budget, alerts that are over and were told, and runs that nothing refers to. The ledger itself (see `pruneSlices`) and
 * quarantine are not touched. `now` may be far ahead: nothing is old before it is so by the database's clock.
 */
export async function pruneRecords(db: Kysely<Database>, now: Date): Promise<void> {
  const before = sql<Date>`least(${now}::timestamptz, now()) - make_interval(days => ${KEPT_DAYS})`
  // Runs of jobs refer to runs.
  await db.deleteFrom('livehouse_ops.job_runs').where('status', '=', 'ended').where('started_at', '<', before).execute()
  await db
    .deleteFrom('livehouse_ops.backfills as old')
    .where('status', '!=', 'open')
    .where('finished_at', '<', before)
    .where(isUnnamed(['slices', 'open_slices'], 'backfill_id'))
    .execute()
  await db.deleteFrom('livehouse_ops.call_budget').where(sql<boolean>`service_day < (${before})::date`).execute()
  await db
    .deleteFrom('livehouse_ops.alerts')
    .where('cleared_at', '<', before)
    .where((alert) => alert.not(isDueNotice))
    .execute()
  await db
    .deleteFrom('livehouse_ops.runs as old')
    .where('started_at', '<', before)
    .where((run) => run.or([run('finished_at', 'is', null), run('finished_at', '<', before)]))
    .where(isUnnamed(REFERRING_TABLES, 'run_id'))
    .execute()
}

/** Whether no row of these tables names the number of `old`. */
function isUnnamed(tables: readonly string[], column: string) {
  const name = sql.ref(column)
  // The tables are a list: the builder takes them one by one.
  const named = tables.map(
    (table) => sql`select ${name} from ${sql.table(`livehouse_ops.${table}`)} where ${name} = old.${name}`,
  )
  return sql<boolean>`not exists (${sql.join(named, sql` union all `)})`
}
