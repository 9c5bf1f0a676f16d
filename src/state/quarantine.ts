import { createHash } from 'node:crypto'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'

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
}

/** Rows a statement: far below the limit of 65,535 parameters. */
const BATCH = 1000

/**
 * Keeps items with their reasons. Equal items of one slice are told apart by their ordinal, so that reading again adds
 * none. One that comes again is noted once a day of the service, so that a quiet night writes nothing; one that had been
 * resolved is unresolved again.
 */
export async function quarantineItems(
  db: Kysely<Database>,
  { stream, partition, runId, seenAt, timeZone }: QuarantineOrigin,
  items: readonly QuarantinedItem[],
): Promise<void> {
  const rows = numbered(items).map(({ raw, reason, path, headers, item_hash, ordinal }) => {
    const seen = { run_id: runId, first_seen_at: seenAt, last_seen_at: seenAt }
    return { stream, partition, item_hash, ordinal, raw, reason, path, headers, ...seen }
  })
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
            resolved_at: null,
          })
          .where(
            sql<boolean>`(quarantine.resolved_at is not null or ${lastDay} < ${dayOf('excluded.last_seen_at', timeZone)})`,
          ),
      )
      .execute()
  }
}

/**
 * After a proven walk over a whole list: what it no longer brought as unreadable has come as a row or is gone, and is
 * resolved. In the transaction of the walk's last rows. `isDaily`: the rows belong to the day on which they are read, so only
 * what was last seen on this day of the service.
 */
export async function resolveAbsent(
  trx: Kysely<Database>,
  { stream, partition, seenAt, timeZone }: QuarantineOrigin,
  brought: readonly QuarantinedItem[],
  { isDaily }: { readonly isDaily: boolean },
): Promise<void> {
  const items = numbered(brought)
  const hashes = items.map(({ item_hash }) => item_hash)
  const ordinals = items.map(({ ordinal }) => ordinal)
  const ofDay = isDaily
    ? sql<boolean>`${dayOf('last_seen_at', timeZone)} = (${seenAt}::timestamptz at time zone ${timeZone})::date`
    : sql<boolean>`true`
  await trx
    .updateTable('livehouse_ops.quarantine')
    .set({ resolved_at: seenAt })
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
