import { createHash } from 'node:crypto'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { formatRange, type Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'

/** An item that could not become a row. */
export interface QuarantinedItem {
  /** JSON text. */
  readonly raw: string
  readonly reason: string
  /** Where in the item; empty for the item itself. */
  readonly path: string
  /** The column headers over it as JSON text; null where there are none. */
  readonly headers: string | null
}

export interface QuarantineOrigin {
  readonly stream: StreamName
  /** As in the ledger, such as `channel=9`. */
  readonly partition: string
  readonly runId: string
  readonly seenAt: Date
  /** The service's zone, whose days count. */
  readonly timeZone: string
  /** What was asked for: there the items lie. Undefined for a walk over a whole list, and where none is to be resolved. */
  readonly asked?: Window | undefined
}

/** Rows a statement: far below the limit of 65,535 parameters. */
const BATCH = 1000

/**
 * Keeps items with their reasons. Equal items of one slice are told apart by their ordinal, so that reading again adds
 * none. One that comes again is noted once a day of the service, and where that says more of where it lies, so that a quiet
 * night writes nothing; one that had been resolved is unresolved again.
 */
export async function quarantineItems(
  db: Kysely<Database>,
  { stream, partition, runId, seenAt, timeZone, asked }: QuarantineOrigin,
  items: readonly QuarantinedItem[],
): Promise<void> {
  const lies_in = asked ? `{${formatRange(asked)}}` : null
  const rows = numbered(items).map(({ raw, reason, path, headers, item_hash, ordinal }) => {
    const seen = { run_id: runId, first_seen_at: seenAt, last_seen_at: seenAt }
    return { stream, partition, item_hash, ordinal, raw, reason, path, headers, lies_in, ...seen }
  })
  const liesIn = sql<string | null>`case when quarantine.lies_in && excluded.lies_in
    then quarantine.lies_in * excluded.lies_in else excluded.lies_in end`
  const lastDay = dayOf('quarantine.last_seen_at', timeZone)
  for (let start = 0; start < rows.length; start += BATCH) {
    await db
      .insertInto('livehouse_ops.quarantine')
      .values(rows.slice(start, start + BATCH))
      .onConflict((conflict) =>
        conflict
          .columns(['stream', 'partition', 'item_hash', 'ordinal'])
          .doUpdateSet({
            reason: sql`excluded.reason`,
            path: sql`excluded.path`,
            headers: sql`excluded.headers`,
            run_id: runId,
            last_seen_at: seenAt,
            lies_in: liesIn,
            resolved_at: null,
          })
          .where(
            sql<boolean>`(quarantine.resolved_at is not null or ${lastDay} < ${dayOf('excluded.last_seen_at', timeZone)}
              or quarantine.lies_in is distinct from ${liesIn})`,
          ),
      )
      .execute()
  }
}

/**
 * After a proven reading: what it no longer brought as unreadable is not in what it asked for. An item that can be nowhere any
 * more has come as a row or is gone, and is resolved; in the transaction of the reading's last rows. `isDaily`: the
 * rows belong to the day on which they are read, so only what was last seen on this day of the service.
 */
export async function resolveAbsent(
  trx: Kysely<Database>,
  { stream, partition, seenAt, timeZone, asked }: QuarantineOrigin,
  brought: readonly QuarantinedItem[],
  { isDaily }: { readonly isDaily: boolean },
): Promise<void> {
  const items = numbered(brought)
  const hashes = items.map(({ item_hash }) => item_hash)
  const ordinals = items.map(({ ordinal }) => ordinal)
  const ofDay = isDaily
    ? sql<boolean>`${dayOf('last_seen_at', timeZone)} = (${seenAt}::timestamptz at time zone ${timeZone})::date`
    : sql<boolean>`true`
  const range = sql`tsmultirange(${asked ? formatRange(asked) : null}::tsrange)`
  const left = sql<string | null>`lies_in - ${range}`
  const resolvedAt = sql<Date>`case when isempty(${left}) then ${seenAt}::timestamptz end`
  await trx
    .updateTable('livehouse_ops.quarantine')
    .set(asked ? { lies_in: left, resolved_at: resolvedAt } : { resolved_at: seenAt })
    .where(asked ? sql<boolean>`lies_in && ${range}` : sql<boolean>`true`)
    .where('stream', '=', stream)
    .where('partition', '=', partition)
    .where('resolved_at', 'is', null)
    .where(sql<boolean>`(item_hash, ordinal) not in (select * from unnest(${hashes}::text[], ${ordinals}::integer[]))`)
    .where(ofDay)
    .execute()
}

/** By which equal items are told, of JSON text. */
export function hashItem(raw: string): string {
  return createHash('sha256').update(raw).digest('hex')
}

function numbered(items: readonly QuarantinedItem[]) {
  const seen = new Map<string, number>()
  return items.map((item) => {
    const item_hash = hashItem(item.raw)
    const ordinal = (seen.get(item_hash) ?? 0) + 1
    seen.set(item_hash, ordinal)
    return { ...item, item_hash, ordinal }
  })
}

function dayOf(column: string, timeZone: string): RawBuilder<unknown> {
  return sql`(${sql.ref(column)} at time zone ${timeZone})::date`
}

/** An item of one partition that could not become a row and has not been resolved. */
export interface UnresolvedItem {
  readonly hash: string
  /** JSON text. */
  readonly raw: string
  readonly lastSeenAt: Date
}

/** All of one partition. */
export async function readQuarantined(
  db: Kysely<Database>,
  stream: StreamName,
  partition: string,
): Promise<readonly UnresolvedItem[]> {
  const rows = await db
    .selectFrom('livehouse_ops.quarantine')
    .select(['item_hash', 'raw', 'last_seen_at'])
    .where('stream', '=', stream)
    .where('partition', '=', partition)
    .where('resolved_at', 'is', null)
    .execute()
  return rows.map(({ item_hash, raw, last_seen_at }) => ({ hash: item_hash, raw, lastSeenAt: last_seen_at }))
}

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
  let last: KeptItem | undefined
  for (;;) {
    const { stream = '', partition = '', hash = '', ordinal = 0 } = last ?? {}
    const rows: readonly KeptItem[] = await db
      .selectFrom('livehouse_ops.quarantine')
      .select(['stream', 'partition', 'item_hash as hash', 'ordinal', 'raw', 'reason', 'headers'])
      .select(['run_id as runId', 'last_seen_at as lastSeenAt'])
      .where('resolved_at', 'is', null)
      .$if(streams !== undefined, (query) => query.where('stream', 'in', streams ?? []))
      .where((eb) =>
        eb(eb.refTuple('stream', 'partition', 'item_hash', 'ordinal'), '>', eb.tuple(stream, partition, hash, ordinal)),
      )
      .orderBy('stream')
      .orderBy('partition')
      .orderBy('item_hash')
      .orderBy('ordinal')
      .limit(PAGE)
      .execute()
    if (rows.length > 0) yield rows
    if (rows.length < PAGE) return
    last = rows.at(-1)
  }
}

/** Notes that these items have become rows. In the transaction of the rows. */
export async function resolveItems(trx: Kysely<Database>, items: readonly KeptItem[], at: Date): Promise<void> {
  if (items.length === 0) return
  await trx
    .updateTable('livehouse_ops.quarantine')
    .set({ resolved_at: at })
    .where((eb) =>
      eb(
        eb.refTuple('stream', 'partition', 'item_hash', 'ordinal'),
        'in',
        items.map((item) => eb.tuple(item.stream, item.partition, item.hash, item.ordinal)),
      ),
    )
    .execute()
}

const REASON = 'conflict'

/** An item whose key another version of the interface has for another record, for quarantine. */
export function conflictItem(
  raw: string,
  path: string,
  differing: readonly string[],
): QuarantinedItem & { readonly kind: 'rejected' } {
  const reason = `${REASON}: version 2 has this ${path} with another ${differing.join(' and ')}`
  return { kind: 'rejected', raw, path, reason, headers: null }
}

export function isConflict({ reason }: Pick<QuarantinedItem, 'reason'>): boolean {
  return reason.startsWith(REASON)
}
