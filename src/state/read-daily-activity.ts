import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/database.ts'

/** What the runs that ended on one day of the service did together. */
export interface DayActivity {
  /** `YYYY-MM-DD`. */
  readonly day: string
  readonly inserted: number
  readonly updated: number
  readonly calls: number
  /** Of the calls, those that repeated one that was refused or had failed. */
  readonly retries: number
}

/** The runs of any span are few beside the rows that they brought; more than this are left out, oldest first. */
const MOST_RUNS = 5000

/** The days since `since` on which a run ended, in order. */
export async function readDailyActivity(
  db: Kysely<Database>,
  since: Date,
  timeZone: string,
): Promise<readonly DayActivity[]> {
  const { rows } = await sql<Record<keyof DayActivity, string>>`
    with ended as (
      select * from (select * from livehouse_ops.runs order by run_id desc limit ${MOST_RUNS}) as latest
      where finished_at >= ${since} and jsonb_typeof(outcome->'streams') = 'object'
    )
    select (finished_at at time zone ${timeZone})::date::text as day,
      ${sum('inserted')}, ${sum('updated')}, ${sum('calls')}, ${sum('retries')}
    from ended, jsonb_each(outcome->'streams') as per (stream, facts)
    group by day order by day`.execute(db)
  return rows.map(({ day, inserted, updated, calls, retries }) => ({
    day,
    inserted: Number(inserted),
    updated: Number(updated),
    calls: Number(calls),
    retries: Number(retries),
  }))
}

function sum(name: string) {
  return sql`coalesce(sum((facts->>${sql.lit(name)})::bigint), 0) as ${sql.ref(name)}`
}
