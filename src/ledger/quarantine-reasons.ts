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

/** An item that is still unreadable. */
export interface ShownItem {
  readonly stream: string
  readonly partition: string
  readonly reason: string
  /** Where in the item; empty for the item itself. */
  readonly path: string
  /** The beginning of its JSON text: personal data. */
  readonly raw: string
  readonly lastSeenAt: Date
}

/** Items that came last. @param stream of all when undefined @param rawLength characters of each */
export async function readQuarantinedItems(
  db: Kysely<Database>,
  { stream, count, skip, rawLength }: { stream: string | undefined; count: number; skip: number; rawLength: number },
): Promise<readonly ShownItem[]> {
  return await db
    .selectFrom('livehouse_ops.quarantine')
    .select(['stream', 'partition', 'reason', 'path', 'last_seen_at as lastSeenAt'])
    .select(sql<string>`left(raw, ${rawLength}::integer)`.as('raw'))
    .where('resolved_at', 'is', null)
    .$if(stream !== undefined, (query) => query.where('stream', '=', stream ?? ''))
    .orderBy('last_seen_at', 'desc')
    .orderBy('stream')
    .orderBy('partition')
    .orderBy('item_hash')
    .orderBy('ordinal')
    .limit(count)
    .offset(skip)
    .execute()
}

/** What one stream has in quarantine and not made good since. */
export interface QuarantineCount {
  readonly stream: string
  readonly rows: number
  readonly mostCommonReason: string
}

/** By stream, those with most rows first. */
export async function readQuarantineCounts(db: Kysely<Database>): Promise<readonly QuarantineCount[]> {
  const rows = await db
    .selectFrom('livehouse_ops.quarantine')
    .select(({ fn }) => ['stream', fn.countAll<string>().as('count')])
    .select(sql<string>`mode() within group (order by reason)`.as('mostCommonReason'))
    .where('resolved_at', 'is', null)
    .groupBy('stream')
    .orderBy('count', 'desc')
    .orderBy('stream')
    .execute()
  return rows.map(({ count, ...row }) => ({ ...row, rows: Number(count) }))
}

/** Items of one stream that could not be read for the same reason, and still cannot. */
export interface QuarantineGroup {
  readonly stream: string
  readonly reason: string
  readonly items: number
  /** In the order of their names. */
  readonly partitions: readonly string[]
  readonly firstSeenAt: Date
  readonly lastSeenAt: Date
  /** The beginning of the item that came last, as JSON text. */
  readonly sample: string
}

/** What is in quarantine, by stream and reason, the largest groups of a stream first. @param sampleLength characters of each sample */
export async function readQuarantine(
  db: Kysely<Database>,
  streams: readonly StreamName[] | undefined,
  sampleLength: number,
): Promise<readonly QuarantineGroup[]> {
  const rows = await db
    .selectFrom('livehouse_ops.quarantine')
    .select(({ fn }) => [
      'stream',
      'reason',
      fn.countAll<string>().as('count'),
      fn.min('first_seen_at').as('firstSeenAt'),
      fn.max('last_seen_at').as('lastSeenAt'),
    ])
    // Aggregates into an array, in an order, are beyond the builder.
    .select(sql<readonly string[]>`array_agg(distinct partition)`.as('partitions'))
    .select(sql<string>`(array_agg(left(raw, ${sampleLength}::integer) order by last_seen_at desc))[1]`.as('sample'))
    .where('resolved_at', 'is', null)
    .$if(streams !== undefined, (query) => query.where('stream', 'in', streams ?? []))
    .groupBy(['stream', 'reason'])
    .orderBy('stream')
    .orderBy('count', 'desc')
    .orderBy('reason')
    .execute()
  return rows.map(({ count, ...row }) => ({ ...row, items: Number(count) }))
}
