import assert from 'node:assert/strict'
import { type Kysely, sql } from 'kysely'
import { type Partition, partitionKey } from '../core/slice.ts'
import type { Stream, StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import { DUPLICATE } from './known-duplicates.ts'

/** What earlier readings of a partition have left that the next one has to look at. */
export interface EarlierReadings {
  /** How many rows the last landed walk found; undefined before the first, and where windows are read. */
  readonly lastWalk: number | undefined
  /** Whether items are in quarantine since their key came more than once. */
  readonly hasDuplicates: boolean
  /** Fields that items have had, without those of which it was accepted that they are missing. */
  readonly knownFields: readonly string[]
}

/** One question for all of it: of thousands of small partitions, each statement takes as long as to read a page. */
export async function readEarlier(
  db: Kysely<Database>,
  stream: Stream,
  partition: Partition,
  isWalk: boolean,
): Promise<EarlierReadings> {
  const place = sql`stream = ${stream.name} and partition = ${partitionKey(partition)}`
  const lastWalk = sql`
    select distinct_rows from livehouse_ops.slices where ${place} and reads is null and status = 'landed'
    order by slice_id desc limit 1`
  const { rows } = await sql<{ lastWalk: string | null; hasDuplicates: boolean; knownFields: readonly string[] }>`
    select ${isWalk ? sql`(${lastWalk})` : sql`null`} as "lastWalk",
      exists (select from livehouse_ops.quarantine where ${place} and resolved_at is null
        and reason like ${`${DUPLICATE}%`}) as "hasDuplicates",
      array(select field from livehouse_ops.known_fields where ${place} and accepted_at is null) as "knownFields"`.execute(
    db,
  )
  const [row] = rows
  assert(row)
  return { ...row, lastWalk: row.lastWalk === null ? undefined : Number(row.lastWalk) }
}

/** How many rows of a partition its last proven reading missed: the next one decides whether they are gone. */
export async function readMissedRows(db: Kysely<Database>, stream: StreamName, partition: string): Promise<number> {
  const { count } = await db
    .selectFrom('livehouse_ops.missed_rows')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('stream', '=', stream)
    .where('partition', '=', partition)
    .executeTakeFirstOrThrow()
  return Number(count)
}
