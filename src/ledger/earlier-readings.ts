import { type Kysely, type RawBuilder, sql } from 'kysely'
import { type Partition, partitionKey } from '../core/slice.ts'
import type { Stream, StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import { DUPLICATE } from './known-duplicates.ts'

/** What earlier readings of a partition have left that the next one has to look at. */
export interface EarlierReadings {
  /** Of a walk whose rows may be marked removed: none is there, nor noted as missed. */
  readonly isNew: boolean
  /** How many rows the last landed walk found; undefined before the first, and where windows are read. */
  readonly lastWalk: number | undefined
  /** Whether items are in quarantine since their key came more than once. */
  readonly hasDuplicates: boolean
  /** Fields that items have had, without those of which it was accepted that they are missing. */
  readonly knownFields: readonly string[]
}

export const nothingEarlier: EarlierReadings = {
  isNew: false,
  lastWalk: undefined,
  hasDuplicates: false,
  knownFields: [],
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
  const { rows } = await sql<{
    is_new: boolean
    last_walk: string | null
    duplicates: boolean
    fields: readonly string[]
  }>`
    select ${isWalk && stream.marksRemoved ? isNew(stream, partition, place) : sql`false`} as is_new,
      ${isWalk ? sql`(${lastWalk})` : sql`null`} as last_walk,
      exists (select from livehouse_ops.quarantine where ${place} and resolved_at is null
        and reason like ${`${DUPLICATE}%`}) as duplicates,
      array(select field from livehouse_ops.known_fields where ${place} and accepted_at is null) as fields`.execute(db)
  const [row] = rows
  if (row === undefined) return nothingEarlier
  const { is_new, last_walk, duplicates: hasDuplicates, fields: knownFields } = row
  return { isNew: is_new, lastWalk: last_walk === null ? undefined : Number(last_walk), hasDuplicates, knownFields }
}

/** In the order of the key, so that no statistics can make it a scan of a table that has just grown. */
function isNew({ table, key, columns }: Stream, partition: Partition, place: RawBuilder<unknown>): RawBuilder<unknown> {
  const ofPartition = Object.entries(columns).flatMap(([name, { source }]) =>
    source.kind === 'partition' ? [sql`${sql.ref(name)} = ${partition[source.part] ?? null}`] : [],
  )
  const inOrder = sql.join(key.map((name) => sql.ref(name)))
  return sql`((select true from ${sql.table(`livehouse.${table}`)}
      where ${sql.join([...ofPartition, sql`true`], sql` and `)} order by ${inOrder} limit 1) is null
    and not exists (select from livehouse_ops.missed_rows where ${place}))`
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
