import { type Kysely, sql } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'

/** An item in quarantine, with what it takes to read it again. */
export interface KeptItem {
  readonly stream: string
  readonly partition: string
  readonly hash: string
  readonly ordinal: number
  /** JSON text. */
  readonly raw: string
  readonly reason: string
  readonly headers: string | null
  /** The last run that received it. */
  readonly runId: string
  readonly lastSeenAt: Date
}

/** Items a page: an item may be large. */
const PAGE = 500

/** The unresolved items, of every stream when none is named, page by page in the order of their key. */
export async function* readKeptItems(
  db: Kysely<Database>,
  streams: readonly StreamName[] | undefined,
): AsyncIterable<readonly KeptItem[]> {
  const ofStreams = streams === undefined ? sql`true` : sql`stream = any(${[...streams]}::text[])`
  let last: KeptItem | undefined
  for (;;) {
    const after: Pick<KeptItem, 'stream' | 'partition' | 'hash' | 'ordinal'> | undefined = last
    const next = after
      ? sql`(stream, partition, item_hash, ordinal) > (${after.stream}, ${after.partition}, ${after.hash}, ${after.ordinal})`
      : sql`true`
    const { rows } = await sql<KeptItem>`
      select stream, partition, item_hash as hash, ordinal, raw, reason, headers, run_id as "runId", last_seen_at as "lastSeenAt"
      from livehouse_ops.quarantine where resolved_at is null and ${ofStreams} and ${next}
      order by stream, partition, item_hash, ordinal limit ${sql.lit(PAGE)}`.execute(db)
    if (rows.length > 0) yield rows
    if (rows.length < PAGE) return
    last = rows.at(-1)
  }
}

/** Notes that these items have become rows. In the transaction of the rows. */
export async function resolveItems(trx: Kysely<Database>, items: readonly KeptItem[], at: Date): Promise<void> {
  if (items.length === 0) return
  const columns = [
    sql`${items.map(({ stream }) => stream)}::text[]`,
    sql`${items.map(({ partition }) => partition)}::text[]`,
    sql`${items.map(({ hash }) => hash)}::text[]`,
    sql`${items.map(({ ordinal }) => ordinal)}::integer[]`,
  ]
  await sql`
    update livehouse_ops.quarantine set resolved_at = ${at}
    where (stream, partition, item_hash, ordinal) in (select * from unnest(${sql.join(columns)}))`.execute(trx)
}
