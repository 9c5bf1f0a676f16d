import { type Kysely, sql } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'

/** What the last verified walk over a whole list began with. */
export interface WalkMark {
  readonly total: number
  /** Hash. */
  readonly firstPage: string
  /** When the walk began. */
  readonly walkedAt: Date
}

export interface MarkedWalk extends WalkMark {
  readonly stream: StreamName
  readonly partition: string
  readonly runId: string
}

/** The statement that keeps the mark: executed in the transaction that lands the walk. */
export function walkMarkEntry(db: Kysely<Database>, walk: MarkedWalk) {
  const mark = { total: walk.total, first_page: walk.firstPage, walked_at: walk.walkedAt, run_id: walk.runId }
  return db
    .insertInto('livehouse_ops.walk_marks')
    .values({ stream: walk.stream, partition: walk.partition, ...mark })
    .onConflict((conflict) => conflict.columns(['stream', 'partition']).doUpdateSet(mark))
}

/** By partition; without those that another reading has followed, whatever came of it. */
export async function readWalkMarks(db: Kysely<Database>, stream: StreamName): Promise<ReadonlyMap<string, WalkMark>> {
  const { rows } = await sql<Row>`
    select partition, total, first_page, walked_at from livehouse_ops.walk_marks as mark
    where stream = ${stream} and not exists (
      select from livehouse_ops.slices where slices.stream = mark.stream and slices.partition = mark.partition
        and started_at > walked_at and status <> 'assumed')`.execute(db)
  return new Map(
    rows.map((row) => [
      row.partition,
      { total: Number(row.total), firstPage: row.first_page, walkedAt: row.walked_at },
    ]),
  )
}

interface Row {
  readonly partition: string
  readonly total: string
  readonly first_page: string
  readonly walked_at: Date
}

/**
 * Whether watch records show that nobody has come to a channel since an instant: they have been read beyond it, and none is newer.
 * They may be cut to the minute, so a record of the two minutes before counts as newer.
 */
export async function isQuietSince(
  db: Kysely<Database>,
  channelId: string,
  since: Date,
  timeZone: string,
): Promise<boolean> {
  const { rows } = await sql<{ isQuiet: boolean }>`
    select exists (
        select from livehouse_ops.slices where stream = 'watch_records' and partition = ${`channel=${channelId}`}
          and status = 'landed' and upper(covers) > ${since}::timestamptz at time zone ${timeZone})
      and not exists (
        select from livehouse.watch_records where channel_id = ${channelId}
          and coalesce(left_at, entered_at) >= ${since}::timestamptz - interval '2 minutes') as "isQuiet"`.execute(db)
  return rows[0]?.isQuiet === true
}
