import { type Kysely, sql } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'

/** Items in quarantine that could not be read for the same kind of reason. */
export interface QuarantineReason {
  readonly stream: string
  /** In English, with … in place of every value that the service sent. */
  readonly reason: string
  readonly items: number
  readonly lastSeenAt: Date
}

/** What is in quarantine by stream and kind of reason, without a value of anybody. */
export interface QuarantineReasons {
  /** The largest first. */
  readonly reasons: readonly QuarantineReason[]
  /** Whether there are more items than were looked at. */
  readonly isMore: boolean
}

const MOST_ITEMS = 100_000
const MOST_REASONS = 40
/** JSON text, also where it was cut before its end. */
const QUOTED = String.raw`"([^"\\]|\\.)*("|$)`
const LONG_NUMBER = String.raw`\d{5,}`

/** Items that are still unreadable. */
export async function readQuarantineReasons(db: Kysely<Database>): Promise<QuarantineReasons> {
  const { rows } = await sql<QuarantineReason & { readonly looked: number }>`
    with looked as (
      select stream, reason, last_seen_at from livehouse_ops.quarantine where resolved_at is null limit ${MOST_ITEMS + 1}
    ), masked as (
      select stream, last_seen_at,
        regexp_replace(regexp_replace(reason, ${QUOTED}, '…', 'g'), ${LONG_NUMBER}, '…', 'g') as reason
      from looked
    )
    select stream, left(reason, 300) as reason, count(*)::integer as items, max(last_seen_at) as "lastSeenAt",
      (sum(count(*)) over ())::integer as looked
    from masked group by stream, left(reason, 300) order by items desc, stream, reason limit ${MOST_REASONS}`.execute(
    db,
  )
  const reasons = rows.map(({ stream, reason, items, lastSeenAt }) => ({ stream, reason, items, lastSeenAt }))
  return { reasons, isMore: (rows[0]?.looked ?? 0) > MOST_ITEMS }
}

/** What one stream has in quarantine and not made good since. */
export interface QuarantineCount {
  readonly stream: string
  readonly rows: number
  readonly mostCommonReason: string
}

/** By stream, those with most rows first. */
export async function readQuarantineCounts(db: Kysely<Database>): Promise<readonly QuarantineCount[]> {
  const { rows } = await sql<QuarantineCount>`
    select stream, count(*)::integer as rows, mode() within group (order by reason) as "mostCommonReason"
    from livehouse_ops.quarantine where resolved_at is null
    group by stream order by count(*) desc, stream`.execute(db)
  return rows
}

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
  const { rows } = await sql<QuarantineGroup>`
    with samples as (
      select distinct on (stream, reason) stream, reason, ${cut} as sample, length(raw) as length
      from livehouse_ops.quarantine where ${wanted}
      order by stream, reason, last_seen_at desc, partition, item_hash, ordinal
    ), groups as (
      select stream, reason, count(*)::integer as items, count(*) filter (where resolved_at is null)::integer as unresolved,
        array_agg(distinct partition) as partitions, min(first_seen_at) as "firstSeenAt", max(last_seen_at) as "lastSeenAt"
      from livehouse_ops.quarantine where ${wanted} group by stream, reason
    )
    select groups.*, samples.sample, length(samples.sample) = samples.length as "isSampleWhole"
    from groups join samples using (stream, reason)
    order by stream, items desc, reason`.execute(db)
  return rows
}
