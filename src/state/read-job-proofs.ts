import { type Kysely, sql } from 'kysely'
import { formatWallTime } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'
import type { ServiceDay } from './latest-readings.ts'

/** Channels and questionnaires that runs since the day began have written anew or otherwise, by their names in the ledger. */
export async function readChangedSince(
  db: Kysely<Database>,
  { begin, timeZone }: ServiceDay,
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ part: string }>`
    with today as (select run_id from livehouse_ops.runs
      where started_at >= ${formatWallTime(begin)}::timestamp at time zone ${timeZone})
    select 'channel=' || channel_id as part from livehouse.channels join today using (run_id)
    union all select 'channel=' || channel_id || '/question=' || question_id
      from livehouse.questionnaires join today using (run_id)`.execute(db)
  return new Set(rows.map(({ part }) => part))
}

/** Runs of a job in a row that are counted; from there on the number says nothing more. */
export const MOST_RUNS_COUNTED = 100

/** How many of the last runs of a job in a row ended `waiting`, up to `MOST_RUNS_COUNTED`. */
export async function countRunsWaiting(db: Kysely<Database>, job: string): Promise<number> {
  const runs = await db
    .selectFrom('livehouse_ops.job_runs')
    .select('outcome')
    .where('job', '=', job)
    .where('status', '=', 'ended')
    .orderBy('started_at', 'desc')
    .limit(MOST_RUNS_COUNTED)
    .execute()
  const other = runs.findIndex(({ outcome }) => outcome !== 'waiting')
  return other === -1 ? runs.length : other
}

/** Since when each job is served by its present schedule. */
export async function readServedSince(db: Kysely<Database>): Promise<ReadonlyMap<string, Date>> {
  const rows = await db.selectFrom('livehouse_ops.jobs').select(['job', 'since']).execute()
  return new Map(rows.map(({ job, since }) => [job, since]))
}
