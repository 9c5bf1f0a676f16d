import { type RawBuilder, type Kysely, sql, type Transaction } from 'kysely'
import { type Partition, partitionKey, type Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'

/** The part of a stream's table that one reading is held against. */
export interface TablePart {
  readonly stream: Stream
  readonly partition: Partition
  /** Rows whose times lie in it; undefined for the whole partition. */
  readonly window: Window | undefined
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

/**
 * After a proven reading: rows of this part that it did not find are noted as missed; those that the proven reading before it
 * missed too are marked removed. What was found is no longer missed. In the transaction of the reading's last rows.
 * @returns how many rows were marked
 */
export async function markRemoved(
  trx: Transaction<Database>,
  part: TablePart,
  found: { readonly count: number; readonly has: (key: string) => boolean },
  runId: string,
  at: Date,
): Promise<number> {
  const missing = (await countHeld(trx, part)) === found.count ? [] : await findMissing(trx, part, found.has)
  const key = keyColumnOf(part)
  const place = sql`stream = ${part.stream.name} and partition = ${partitionKey(part.partition)}`
  await sql`
    delete from livehouse_ops.missed_rows where ${place} and not row_key = any(${missing}::text[])
      and row_key in (select t.${key} from ${tableOf(part)} as t where ${isOfPart(part)})`.execute(trx)
  if (missing.length === 0) return 0
  const { rows } = await sql<{ row_key: string }>`
    delete from livehouse_ops.missed_rows where ${place} and row_key = any(${missing}::text[])
    returning row_key`.execute(trx)
  const twice = rows.map(({ row_key }) => row_key)
  await sql`
    update ${tableOf(part)} as t set removed_at = ${at}, run_id = ${runId}::bigint, changed_at = now()
    where ${isOfPart(part)} and t.${key} = any(${twice}::text[])`.execute(trx)
  const once = missing.filter((row) => !twice.includes(row))
  await sql`
    insert into livehouse_ops.missed_rows (stream, partition, row_key, missed_at, run_id)
    select ${part.stream.name}, ${partitionKey(part.partition)}, row_key, ${at}, ${runId}::bigint
    from unnest(${once}::text[]) as row_key`.execute(trx)
  return twice.length
}

async function findMissing(
  trx: Transaction<Database>,
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
      order by t.${key} limit ${sql.lit(PAGE)}`.execute(trx)
    for (const row of rows) if (!isFound(row.key)) missing.push(row.key)
    if (rows.length < PAGE) return missing
    after = rows.at(-1)?.key
  }
}

function tableOf({ stream }: TablePart): RawBuilder<unknown> {
  return sql.table(`livehouse.${stream.table}`)
}

/** What is left of the key beside the partition. */
function keyColumnOf({ stream }: TablePart): RawBuilder<unknown> {
  return sql.ref(stream.key.at(-1) ?? '')
}

/** Rows of the partition (of watch records those that the stream's own version delivered) that lie in the window. */
function isOfPart({ stream, partition, window, timeZone }: TablePart): RawBuilder<unknown> {
  const ofStream = Object.entries(stream.columns).flatMap(([name, { source }]) => {
    if (source.kind === 'partition') return [sql`t.${sql.ref(name)} = ${partition[source.part] ?? null}`]
    return source.kind === 'constant' ? [sql`t.${sql.ref(name)} = ${source.value}`] : []
  })
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
  return sql.join([...ofStream, ...inWindow, ...present, sql`true`], sql` and `)
}
