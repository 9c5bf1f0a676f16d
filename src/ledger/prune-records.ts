import { sql } from 'kysely'
import { DAY } from '../core/wall-clock.ts'
import type { Db } from '../store/database.ts'
import { isDueNotice } from './alerts.ts'
import { now as databaseTime, ops } from './ops.ts'
import { deleteUses } from './slices/acceptances.ts'

/**
 * The tables of `livehouse_ops` whose rows keep the run that they name from being pruned. Tables of the warehouse and
 * `channel_days` name runs too, but do not keep them.
 */
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

/** A year, and some weeks to compare with the year before. */
const RETENTION_DAYS = 400

/**
 * Deletes records that are older than `RETENTION_DAYS` by this machine's clock and by the database's: job runs, also
 * those of killed processes, closed backfills, cleared alerts, uses of ended acceptances, days of the call budget, and
 * runs that nothing names. Slices (see `pruneSlices`) and quarantine are not touched.
 */
export async function pruneRecords(db: Db, now: Date): Promise<void> {
  const { databaseNow } = await db.selectNoFrom(databaseTime.as('databaseNow')).executeTakeFirstOrThrow()
  const before = new Date(Math.min(now.getTime(), databaseNow.getTime()) - RETENTION_DAYS * DAY * 1000)
  // Runs of jobs come first, as they refer to runs.
  await ops(db).deleteFrom('job_runs').where('startedAt', '<', before).execute()
  await deleteUses(db, before)
  const backfills = ops(db).deleteFrom('backfills as old').where('status', '!=', 'open')
  const isUnused = isUnreferenced(['slices', 'open_slices'], 'backfill_id')
  await backfills.where('finishedAt', '<', before).where(isUnused).execute()
  await ops(db).deleteFrom('call_budget').where('serviceDay', '<', before.toISOString().slice(0, 10)).execute()
  const alerts = ops(db).deleteFrom('alerts').where('clearedAt', '<', before)
  await alerts.where((eb) => eb.not(isDueNotice(eb))).execute()
  const runs = ops(db).deleteFrom('runs as old').where('startedAt', '<', before)
  const endedRuns = runs.where((eb) => eb.or([eb('finishedAt', 'is', null), eb('finishedAt', '<', before)]))
  await endedRuns.where(isUnreferenced(REFERRING_TABLES, 'run_id')).execute()
}

/** Whether no row of these tables refers to the row `old`. */
function isUnreferenced(tables: readonly string[], column: string) {
  const name = sql.ref(column)
  // The builder cannot type a query over a list of tables.
  const references = tables.map(
    (table) => sql`select ${name} from ${sql.table(`livehouse_ops.${table}`)} where ${name} = old.${name}`,
  )
  return sql<boolean>`not exists (${sql.join(references, sql` union all `)})`
}
