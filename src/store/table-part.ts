import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Partition, Window } from '../core/slice.ts'
import type { LoadTable, Stream } from '../core/stream.ts'
import { formatWallTime, MINUTE, parseWallTime, type WallTime } from '../core/wall-clock.ts'
import type { Database } from './database.ts'

/** The part of a stream's table that one reading is held against. */
export interface TablePart {
  readonly stream: Stream
  readonly partition: Partition
  /** Rows whose times lie in it; undefined for the whole partition. */
  readonly window: Window | undefined
  /** Only rows of this day, where rows belong to the day on which they were read; `YYYY-MM-DD`. */
  readonly serviceDay?: string
  /** The service's zone, in which the window stands. */
  readonly timeZone: string
}

/** Keys fetched at a time. */
const PAGE = 10_000

/** How many rows of this part are there and not removed. */
export async function countHeld(db: Kysely<Database>, part: TablePart): Promise<number> {
  const { rows } = await sql<{ held: string }>`
    select count(*) as held from ${tableOf(part)} as t where ${isOfPart(part)}`.execute(db)
  return Number(rows[0]?.held ?? 0)
}

/** The keys (beside the partition) of the rows of this part that `isFound` does not know. */
export async function findAbsent(
  db: Kysely<Database>,
  part: TablePart,
  isFound: (key: string) => boolean,
): Promise<readonly string[]> {
  const key = keyColumnOf(part)
  const missing: string[] = []
  let after: string | undefined
  for (;;) {
    const next = after === undefined ? sql`` : sql` and t.${key} > ${after}`
    const { rows } = await sql<{ key: string }>`
      select t.${key} as key from ${tableOf(part)} as t where ${isOfPart(part)}${next}
      order by t.${key} limit ${sql.lit(PAGE)}`.execute(db)
    for (const row of rows) if (!isFound(row.key)) missing.push(row.key)
    if (rows.length < PAGE) return missing
    after = rows.at(-1)?.key
  }
}

/** The table of a part. */
export function tableOf({ stream }: TablePart): RawBuilder<unknown> {
  return sql.table(`livehouse.${stream.table}`)
}

/** What is left of the key beside the partition and the day. */
export function keyColumnOf({ stream }: Pick<TablePart, 'stream'>): RawBuilder<unknown> {
  return sql.ref(rowKeyColumn(stream))
}

/** The column that tells the rows of one partition and day apart. */
export function rowKeyColumn({ key, columns }: LoadTable): string {
  const isOfRow = (name: string) => ['field', 'computed'].includes(columns[name]?.source.kind ?? '')
  return key.findLast(isOfRow) ?? ''
}

/** Rows of the partition (of watch records those that the stream's own version delivered), removed or not. */
export function isOfPartition({ stream, partition, serviceDay }: TablePart): RawBuilder<unknown> {
  const ofStream = Object.entries(stream.columns).flatMap(([name, { source }]) => {
    if (source.kind === 'partition') return [sql`t.${sql.ref(name)} = ${partition[source.part] ?? null}`]
    if (source.kind === 'serviceDay' && serviceDay !== undefined) return [sql`t.${sql.ref(name)} = ${serviceDay}::date`]
    return source.kind === 'constant' ? [sql`t.${sql.ref(name)} = ${source.value}`] : []
  })
  return sql.join([...ofStream, sql`true`], sql` and `)
}

/** Of these the rows that lie in the window and are not removed. */
export function isOfPart(part: TablePart): RawBuilder<unknown> {
  const { stream, window, timeZone } = part
  const inWindow =
    window === undefined
      ? []
      : stream.timeColumns.map((name, index) => {
          const time = sql`t.${sql.ref(name)}`
          const from = sql`${formatWallTime(window.from)}::timestamp at time zone ${timeZone}`
          const to = sql`${formatWallTime(window.to)}::timestamp at time zone ${timeZone}`
          const lies = sql`${time} >= ${from} and ${time} < ${to}`
          return index === 0 ? lies : sql`(${time} is null or ${lies})`
        })
  const present = stream.marksRemoved ? [sql`t.removed_at is null`] : []
  return sql.join([isOfPartition(part), ...inWindow, ...present], sql` and `)
}

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
