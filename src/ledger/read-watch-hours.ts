import { type Kysely, sql } from 'kysely'
import type { Database } from '../store/database.ts'

/** What viewers watched on one day of the service, by when they came. */
export interface DayWatched {
  /** `YYYY-MM-DD`. */
  readonly day: string
  readonly hours: number
  readonly visits: number
}

/** The days since `since` that have watch records, in order. Reads the records of these days. */
export async function readWatchHours(
  db: Kysely<Database>,
  since: Date,
  timeZone: string,
): Promise<readonly DayWatched[]> {
  const { rows } = await sql<{ day: string; seconds: string; visits: string }>`
    select (entered_at at time zone ${timeZone})::date::text as day, coalesce(sum(watch_seconds), 0) as seconds,
      count(*) as visits
    from livehouse.watch_records where entered_at >= ${since} group by day order by day`.execute(db)
  return rows.map(({ day, seconds, visits }) => ({ day, hours: Number(seconds) / 3600, visits: Number(visits) }))
}
