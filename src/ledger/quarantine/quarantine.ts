import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { RejectedItem } from '../../core/page.ts'
import { formatRanges, type Place, type Window } from '../../core/slice.ts'
import { formatWallDate, wallTimeAt } from '../../core/wall-clock.ts'
import type { Db } from '../../store/database.ts'
import { isAt, ops, ROWS_A_STATEMENT, type Row } from '../ops.ts'
import { selectLandedBefore } from '../slices/slices.ts'

type QuarantinedItem = Omit<RejectedItem, 'kind'>

export interface QuarantineOrigin extends Place {
  readonly runId: string
  readonly seenAt: Date
  /** The service's zone, which decides what a day is. */
  readonly timeZone: string
  /** The requested range, in which the items lie; undefined for a whole list, and if no item is resolved. */
  readonly requestWindow?: Window | undefined
}

const KEY = ['stream', 'partition', 'itemHash', 'ordinal'] as const

/**
 * Puts items into quarantine with their reasons. Equal items of one slice are numbered (`ordinal`), so that a second
 * reading adds none. An item that comes again is updated only if it was resolved, if the range in which it lies
 * changes, or once a day of the service: a reading without news writes nothing.
 */
export async function quarantineItems(
  db: Db,
  { stream, partition, runId, seenAt, timeZone, requestWindow }: QuarantineOrigin,
  items: readonly QuarantinedItem[],
): Promise<void> {
  const liesIn = requestWindow ? formatRanges([requestWindow]) : null
  const rows = withOrdinals(items).map(({ raw, reason, path, headers, itemHash, ordinal }) => {
    const seen = { runId, firstSeenAt: seenAt, lastSeenAt: seenAt }
    return { stream, partition, itemHash, ordinal, raw, reason, path, headers, liesIn, ...seen }
  })
  // Multiranges and days of a zone are plainer in SQL.
  const newRange = sql<string | null>`case when quarantine.lies_in && excluded.lies_in
    then quarantine.lies_in * excluded.lies_in else excluded.lies_in end`
  const hasNews = sql<boolean>`(quarantine.resolved_at is not null or quarantine.lies_in is distinct from ${newRange}
    or ${dayOf('quarantine.last_seen_at', timeZone)} < ${dayOf('excluded.last_seen_at', timeZone)})`
  for (let start = 0; start < rows.length; start += ROWS_A_STATEMENT) {
    await ops(db)
      .insertInto('quarantine')
      .values(rows.slice(start, start + ROWS_A_STATEMENT))
      .onConflict((conflict) =>
        conflict
          .columns(KEY)
          .doUpdateSet((eb) => ({
            reason: eb.ref('excluded.reason'),
            path: eb.ref('excluded.path'),
            headers: eb.ref('excluded.headers'),
            runId,
            lastSeenAt: seenAt,
            liesIn: newRange,
            firstSeenAt: sql`case when quarantine.resolved_at is null then quarantine.first_seen_at else ${seenAt} end`,
            resolvedAt: null,
          }))
          .where(hasNews),
      )
      .execute()
  }
}

/**
 * Resolves items after a proven reading. An item that the reading did not bring does not lie in the range that it asked
 * for; an item with no range left is resolved. Call it in the transaction of the reading's last rows. `isDaily`: rows
 * belong to the day on which they are read, so only items last seen on this day of the service are resolved.
 */
export async function resolveAbsent(
  trx: Db,
  { seenAt, timeZone, requestWindow, ...place }: QuarantineOrigin,
  itemsOfReading: readonly QuarantinedItem[],
  { isDaily }: { readonly isDaily: boolean },
): Promise<void> {
  const range = formatRanges(requestWindow ? [requestWindow] : [])
  const today = formatWallDate(wallTimeAt(seenAt.getTime(), timeZone))
  await ops(trx)
    .updateTable('quarantine')
    .where(isAt(place))
    .where('resolvedAt', 'is', null)
    .set((eb) => {
      if (requestWindow === undefined) return { resolvedAt: seenAt }
      const liesIn = eb('liesIn', '-', range)
      const resolvedAt = eb
        .case()
        .when(eb.fn<boolean>('isempty', [liesIn]))
        .then(eb.cast<Date>(eb.val(seenAt), 'timestamptz'))
      return { liesIn, resolvedAt: resolvedAt.end() }
    })
    .$if(requestWindow !== undefined, (query) => query.where('liesIn', '&&', range))
    .$if(isDaily, (query) => query.where(dayOf('last_seen_at', timeZone), '=', today))
    .where((eb) => eb.not(isAmong(itemsOfReading)))
    .execute()
}

/** The day of the service on which an instant lies. */
const dayOf = (column: string, timeZone: string) => sql<string>`(${sql.ref(column)} at time zone ${timeZone})::date`

/** SHA-256 of an item's JSON text, in hex. */
export function hashItem(raw: string): string {
  return createHash('sha256').update(raw).digest('hex')
}

function withOrdinals(items: readonly QuarantinedItem[]) {
  const seen = new Map<string, number>()
  return items.map((item) => {
    const itemHash = hashItem(item.raw)
    const ordinal = (seen.get(itemHash) ?? 0) + 1
    seen.set(itemHash, ordinal)
    return { ...item, itemHash, ordinal }
  })
}

/** Whether a row is one of these items. Two arrays, as there may be more items than a statement has parameters. */
function isAmong(items: readonly QuarantinedItem[]): RawBuilder<boolean> {
  const keys = withOrdinals(items)
  const hashes = keys.map(({ itemHash }) => itemHash)
  const ordinals = keys.map(({ ordinal }) => ordinal)
  return sql<boolean>`((item_hash, ordinal) in (select * from unnest(${hashes}::text[], ${ordinals}::integer[])))`
}

/** An item that waits to be resolved, with everything that is needed to read it again. */
export type WaitingItem = Pick<Row<'quarantine'>, (typeof WAITING_COLUMNS)[number]>
const WAITING_COLUMNS = [...KEY, 'raw', 'reason', 'path', 'headers', 'runId', 'lastSeenAt'] as const

/** A query of the waiting items of all partitions. */
export function selectWaiting(db: Db) {
  return ops(db).selectFrom('quarantine').where('resolvedAt', 'is', null).select(WAITING_COLUMNS)
}

/** The waiting items of one partition. */
export async function readWaitingOfPartition(db: Db, place: Place): Promise<readonly WaitingItem[]> {
  return await selectWaiting(db).where(isAt(place)).execute()
}

/** Items a page: few, as an item may be large. */
const PAGE = 500

/** The waiting items, page by page in the order of their key. @param streams all when undefined */
export async function* readWaitingItems(
  db: Db,
  streams: readonly string[] | undefined,
): AsyncIterable<readonly WaitingItem[]> {
  let last: WaitingItem | undefined
  for (;;) {
    const { stream = '', partition = '', itemHash = '', ordinal = 0 } = last ?? {}
    const rows: readonly WaitingItem[] = await selectWaiting(db)
      .$if(streams !== undefined, (query) => query.where('stream', 'in', streams ?? []))
      .where((eb) => eb(eb.refTuple(...KEY), '>', eb.tuple(stream, partition, itemHash, ordinal)))
      .orderBy('stream')
      .orderBy('partition')
      .orderBy('itemHash')
      .orderBy('ordinal')
      .limit(PAGE)
      .execute()
    if (rows.length > 0) yield rows
    if (rows.length < PAGE) return
    last = rows.at(-1)
  }
}

/** Records that these items have become rows. Call it in the transaction that writes the rows. */
export async function resolveItems(trx: Db, items: readonly WaitingItem[], at: Date): Promise<void> {
  if (items.length === 0) return
  await ops(trx)
    .updateTable('quarantine')
    .set({ resolvedAt: at })
    .where((eb) => {
      const keys = items.map((item) => eb.tuple(item.stream, item.partition, item.itemHash, item.ordinal))
      return eb(eb.refTuple(...KEY), 'in', keys)
    })
    .execute()
}

const CONFLICT = 'conflict'
/** How the reason begins if a fresher item has the same key. */
const DUPLICATE = 'duplicate'
/** How the reason ends if a row without an id lies so far outside that no request for its time would return it. */
export const STRAY = 'lies far outside of the requested range'

/** The quarantine item for a row that the source lists beside a fresher one of the same key. */
export function duplicateItem(raw: string, path: string, rows: number) {
  const why = `${path} came ${rows} times with different contents in a list that did not change; the latest is kept`
  return rejectedItem(raw, path, `${DUPLICATE}: ${why}`)
}

/** The quarantine item for a record whose key belongs to a different record in version 2 of the interface. */
export function conflictItem(raw: string, path: string, differing: readonly string[]) {
  return rejectedItem(raw, path, `${CONFLICT}: version 2 has this ${path} with another ${differing.join(' and ')}`)
}

function rejectedItem(raw: string, path: string, reason: string) {
  return { kind: 'rejected', raw, path, reason, headers: null } as const
}

/** Whether the item could be read, so that it does not show that the interface has changed. */
export function isReadable({ reason }: Pick<QuarantinedItem, 'reason'>): boolean {
  return reason.startsWith(DUPLICATE) || reason.endsWith(STRAY)
}

/** Whether the table has another row in place of this item: the fresher duplicate, or the one of version 2. */
export function isSuperseded({ reason }: Pick<QuarantinedItem, 'reason'>): boolean {
  return reason.startsWith(DUPLICATE) || reason.startsWith(CONFLICT)
}

/**
 * Whether at least as many items were waiting when another run last landed a reading of the window. Items are counted,
 * not compared: a field that differs in every answer would make each of them look new.
 */
export async function hadAsManyQuarantined(
  trx: Db,
  { runId, window, ...place }: Place & { readonly runId: string; readonly window: Window | undefined },
  items: number,
): Promise<boolean> {
  const { count } = await ops(trx)
    .selectFrom('quarantine')
    .select(({ fn }) => fn.countAll().as('count'))
    .where(isAt(place))
    .where('resolvedAt', 'is', null)
    .$if(window !== undefined, (query) => query.where('liesIn', '&&', formatRanges(window ? [window] : [])))
    // An item that this run saw first may have the same millisecond as the earlier landing.
    .where((eb) => eb('runId', '!=', runId).or('firstSeenAt', '<', eb.ref('lastSeenAt')))
    .where('firstSeenAt', '<=', selectLandedBefore(trx, place, window, runId))
    .executeTakeFirstOrThrow()
  return Number(count) >= items
}

/**
 * The key fields of a partition's rows that are in quarantine as duplicates, as text. A number beyond 2^53 may not be
 * exact; a list with such a duplicate takes one more walk.
 */
export async function readDuplicates(db: Db, place: Place): Promise<readonly (string | null)[]> {
  const items = await selectWaiting(db).where(isAt(place)).where('reason', 'like', `${DUPLICATE}%`).execute()
  return items.map(({ raw, path }) => {
    // Parsed here: in Postgres, U+0000, a lone surrogate or deep nesting anywhere in the item would fail the query.
    const value: unknown = Object(JSON.parse(raw))[path]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : null
  })
}
