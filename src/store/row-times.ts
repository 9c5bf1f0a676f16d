import { type Kysely, sql } from 'kysely'
import { MINUTE, parseWallTime, type WallTime } from '../core/wall-clock.ts'
import type { Database } from './database.ts'
import { isOfPart, type TablePart, tableOf } from './table-part.ts'

/** How many rows of a partition have no value in this time column. */
export async function countUntimed(db: Kysely<Database>, part: TablePart, column: string): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select count(*) from ${tableOf(part)} as t where ${isOfPart(part)} and t.${sql.ref(column)} is null`.execute(db)
  return Number(rows[0]?.count ?? 0)
}

/** The minute on the service's wall clock of the row at `offset`, in the order of this time column; undefined where there are not so many. */
export async function findMinute(
  db: Kysely<Database>,
  part: TablePart,
  column: string,
  offset: number,
): Promise<WallTime | undefined> {
  const time = sql`t.${sql.ref(column)}`
  const { rows } = await sql<{ minute: string }>`
    select date_trunc('minute', ${time} at time zone ${part.timeZone})::text as minute
    from ${tableOf(part)} as t where ${isOfPart(part)} and ${time} is not null
    order by ${time} offset ${offset} limit 1`.execute(db)
  return rows[0] && parseWallTime(rows[0].minute)
}

/** A row that lasted for a while. */
export interface LongRow {
  readonly channelId: string
  readonly key: string
  readonly from: WallTime
  readonly to: WallTime
}

/** Rows of at least so many minutes from one of their times to the other, of any of these channels. */
export async function findLongRows(
  db: Kysely<Database>,
  { stream, timeZone }: Pick<TablePart, 'stream' | 'timeZone'>,
  channelIds: readonly string[],
  minutes: number,
  most: number,
): Promise<readonly LongRow[]> {
  const [from = '', to = ''] = stream.timeColumns
  const key = stream.key.at(-1) ?? ''
  const wall = (column: string) => sql`(${sql.ref(column)} at time zone ${timeZone})`
  const { rows } = await sql<{ channel_id: string; key: string; from: string; to: string }>`
    select channel_id, ${sql.ref(key)}::text as key, date_trunc('minute', ${wall(from)})::text as "from",
      date_trunc('minute', ${wall(to)})::text as "to"
    from ${sql.table(`livehouse.${stream.table}`)}
    where channel_id = any(${channelIds}::text[])
      and ${sql.ref(to)} - ${sql.ref(from)} >= make_interval(secs => ${minutes * MINUTE})
    order by ${sql.ref(key)} limit ${most}`.execute(db)
  return rows.map((row) => ({
    channelId: row.channel_id,
    key: row.key,
    from: parseWallTime(row.from) ?? 0,
    to: parseWallTime(row.to) ?? 0,
  }))
}
