import { type Kysely, sql } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'

/** Items of one stream that could not be read for the same reason. */
export interface QuarantineGroup {
  readonly stream: string
  readonly reason: string
  readonly items: number
  /** Of these, how many are still unreadable. */
  readonly unresolved: number
  /** In the order of their names. */
  readonly partitions: readonly string[]
  readonly firstSeenAt: Date
  readonly lastSeenAt: Date
  /** The beginning of the item that came last, as JSON text. */
  readonly sample: string
  readonly isSampleWhole: boolean
}

export interface QuarantineQuestion {
  /** Undefined for every stream. */
  readonly streams: readonly StreamName[] | undefined
  readonly includesResolved: boolean
  /** Characters of the sample; undefined for all of it. */
  readonly sampleLength: number | undefined
}

/** What is in quarantine, by stream and reason, the largest groups of a stream first. */
export async function readQuarantine(
  db: Kysely<Database>,
  { streams, includesResolved, sampleLength }: QuarantineQuestion,
): Promise<readonly QuarantineGroup[]> {
  const ofStreams = streams === undefined ? sql`true` : sql`stream = any(${[...streams]}::text[])`
  const wanted = includesResolved ? ofStreams : sql`${ofStreams} and resolved_at is null`
  const cut = sampleLength === undefined ? sql`raw` : sql`left(raw, ${sampleLength}::integer)`
  const { rows } = await sql<GroupRow>`
    with samples as (
      select distinct on (stream, reason) stream, reason, ${cut} as sample, length(raw) as length
      from livehouse_ops.quarantine where ${wanted}
      order by stream, reason, last_seen_at desc, partition, item_hash, ordinal
    ), groups as (
      select stream, reason, count(*) as items, count(*) filter (where resolved_at is null) as unresolved,
        array_agg(distinct partition) as partitions, min(first_seen_at) as first_seen_at,
        max(last_seen_at) as last_seen_at
      from livehouse_ops.quarantine where ${wanted} group by stream, reason
    )
    select groups.*, samples.sample, length(samples.sample) = samples.length as is_whole
    from groups join samples using (stream, reason)
    order by stream, items desc, reason`.execute(db)
  return rows.map((row) => ({
    stream: row.stream,
    reason: row.reason,
    items: Number(row.items),
    unresolved: Number(row.unresolved),
    partitions: row.partitions,
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
    sample: row.sample,
    isSampleWhole: row.is_whole,
  }))
}

interface GroupRow {
  readonly stream: string
  readonly reason: string
  readonly items: string
  readonly unresolved: string
  readonly partitions: readonly string[]
  readonly first_seen_at: Date
  readonly last_seen_at: Date
  readonly sample: string
  readonly is_whole: boolean
}
