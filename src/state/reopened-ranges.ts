import { type Kysely, sql } from 'kysely'
import type { Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import { formatRange, readBounds } from './wall-range.ts'

/** Notes that an audit took a range out of what is covered: until it has been read again, no audit finds the partition equal. */
export async function recordReopened(
  db: Kysely<Database>,
  place: { readonly stream: StreamName; readonly partition: string },
  window: Window,
  at: Date,
): Promise<void> {
  await db
    .insertInto('livehouse_ops.reopened_ranges')
    .values({ ...place, range: formatRange(window), reopened_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** What audits have reopened of a partition and no slice has covered since, oldest first; the rest is forgotten. */
export async function readReopened(
  db: Kysely<Database>,
  stream: StreamName,
  partition: string,
): Promise<readonly Window[]> {
  const place = sql`stream = ${stream} and partition = ${partition}`
  const covered = sql`coalesce((select range_agg(covers) from livehouse_ops.slices
    where ${place} and status = 'landed' and covers && reopened_ranges.range), '{}')`
  await sql`delete from livehouse_ops.reopened_ranges where ${place} and range <@ ${covered}`.execute(db)
  const { rows } = await sql<{ lower: string; upper: string }>`
    select lower(gap)::text as lower, upper(gap)::text as upper
    from livehouse_ops.reopened_ranges, unnest(tsmultirange(range) - ${covered}) as gap
    where ${place} order by gap`.execute(db)
  return rows.flatMap(({ lower, upper }) => readBounds(lower, upper) ?? [])
}
