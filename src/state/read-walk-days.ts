import { type Kysely, sql } from 'kysely'
import { streamNames } from '../core/stream.ts'
import type { Database } from '../db/database.ts'

/** How many whole lists of one stream were read on one day of the service. */
export interface WalkDay {
  readonly stream: string
  /** `YYYY-MM-DD`. */
  readonly day: string
  /** Partitions with a reading that came to its end. */
  readonly landed: number
  /** Partitions with none but failed or short ones. */
  readonly failed: number
}

/** Walks since `since`, of one channel or of all; of all, those of the runs that began since then. */
export async function readWalkDays(
  db: Kysely<Database>,
  since: Date,
  timeZone: string,
  channelId?: string,
): Promise<readonly WalkDay[]> {
  const wanted =
    channelId === undefined
      ? sql`run_id in (select run_id from livehouse_ops.runs where started_at >= ${since})`
      : sql`stream = any(${[...streamNames]}::text[]) and partition = ${`channel=${channelId}`} and finished_at >= ${since}`
  const { rows } = await sql<{ stream: string; day: string; landed: string; failed: string }>`
    with read as (
      select stream, partition, (finished_at at time zone ${timeZone})::date as day,
        bool_or(status <> 'failed') as is_landed
      from livehouse_ops.slices where ${wanted} and reads is null and status <> 'forgotten'
      group by stream, partition, day
    )
    select stream, day::text as day, count(*) filter (where is_landed) as landed, count(*) filter (where not is_landed) as failed
    from read group by stream, day order by stream, day`.execute(db)
  return rows.map(({ stream, day, landed, failed }) => ({
    stream,
    day,
    landed: Number(landed),
    failed: Number(failed),
  }))
}
