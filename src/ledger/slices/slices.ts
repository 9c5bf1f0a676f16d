import { sql } from 'kysely'
import { formatRange, isGreen, type Partition, partitionKey, type Place, type Window } from '../../core/slice.ts'
import { cleanText } from '../../core/text.ts'
import { formatWallTime, type WallTime } from '../../core/wall-clock.ts'
import type { Db } from '../../store/database.ts'
import { isAt, ops, type Row, type Statement } from '../ops.ts'

/** What the ledger keeps of one reading. */
export interface SliceRecord extends Pick<Row<'slices'>, 'runId' | 'isDrop' | 'proof' | 'startedAt' | 'finishedAt'> {
  readonly stream: string
  readonly partition: Partition
  /** What it read; undefined for a snapshot walk. */
  readonly window: Window | undefined
  /** What it covers once it has landed; undefined where nothing. */
  readonly covers: Window | undefined
  /** The part of that which is not read again; undefined where nothing. */
  readonly settled: Window | undefined
  /** The lookback that was in force when it was read; the stream's when not given. */
  readonly lookbackDays?: number | undefined
  /** Rows of a page; undefined where one page held all of them, or where two page sizes gave the same rows. */
  readonly pageSize?: number | undefined
  readonly backfillId: string | undefined
  readonly totals:
    | { readonly first: number; readonly last: number; readonly smallest: number; readonly largest: number }
    | undefined
  readonly distinctRows: number
  readonly quarantinedRows: number
  readonly calls: number
  readonly retries: number
  readonly missingRows?: number | undefined
  readonly acceptanceId?: string | undefined
  /** Why it is not proven; undefined where it is. */
  readonly error: string | undefined
}

/** Writes slices into the ledger; in the transaction of their last rows, so that coverage never runs ahead of rows. */
export function recordSlices(db: Db, slices: readonly SliceRecord[]): Statement {
  const rows = slices.map(({ partition, window, covers, settled, totals, error, ...slice }) => ({
    ...slice,
    partition: partitionKey(partition),
    reads: window ? formatRange(window) : null,
    covers: covers ? formatRange(covers) : null,
    settled: settled ? formatRange(settled) : null,
    // Only what has landed counts as covered. A list that moved has been read, but is read again.
    status: slice.proof === 'moving' ? slice.proof : isGreen(slice.proof) ? ('landed' as const) : ('failed' as const),
    firstTotal: totals?.first,
    lastTotal: totals?.last,
    smallestTotal: totals?.smallest,
    largestTotal: totals?.largest,
    error: error ?? null,
  }))
  return ops(db).insertInto('slices').values(rows)
}

/** Whether a whole walk of this partition has landed since an instant. */
export async function hasLandedSince(db: Db, place: Place, since: Date): Promise<boolean> {
  const reading = ops(db).selectFrom('latest_readings').select('partition').where(isAt(place))
  const walked = reading.where('walkedAt', '>', since)
  return (await walked.executeTakeFirst()) !== undefined
}

/** How many rows the last landed walk of a partition before this run found; undefined without one. */
export async function readWalkBefore(db: Db, place: Place, runId: string): Promise<number | undefined> {
  const row = await ops(db)
    .selectFrom('slices')
    .select('distinctRows')
    .where(isAt(place))
    .where('status', '=', 'landed')
    .where('runId', '!=', runId)
    .orderBy('sliceId', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && Number(row.distinctRows)
}

/**
 * When the last reading of each of these minutes of a partition began; an undefined minute asks for whole walks.
 * @returns as many instants as minutes, in their order; undefined where it was never read
 */
export async function readLastReading(
  db: Db,
  { stream, partition }: Place,
  minutes: readonly (WallTime | undefined)[],
): Promise<readonly (Date | undefined)[]> {
  const times = minutes.map((minute) => (minute === undefined ? null : formatWallTime(minute)))
  // The builder cannot select from values in their order.
  const { rows } = await sql<{ at: Date | null }>`
    select (
      select max(started_at) from livehouse_ops.slices
      where stream = ${stream} and partition = ${partition} and status in ('landed', 'moving')
        and case when minute is null then reads is null else reads @> minute end
    ) as at
    from unnest(${times}::timestamp[]) with ordinality as asked (minute, number) order by number`.execute(db)
  return rows.map(({ at }) => at ?? undefined)
}

/** The streams that have been read, or tried. */
export async function readStreamsOnRecord(db: Db): Promise<ReadonlySet<string>> {
  const rows = await ops(db).selectFrom('slices').select('stream').distinct().execute()
  return new Set(rows.map(({ stream }) => stream))
}

/** Remembers the fields of items; those on record as missing no longer are. `fields`: at least one. */
export function rememberFields(db: Db, place: Place, fields: readonly string[]): Statement {
  return ops(db)
    .insertInto('known_fields')
    .values(fields.map((field) => ({ ...place, field })))
    .onConflict((conflict) =>
      conflict
        .columns(['stream', 'partition', 'field'])
        .doUpdateSet({ missingSince: null, acceptedAt: null, reason: null })
        .where('known_fields.missingSince', 'is not', null),
    )
}

/** Notes that a slice had these fields in none of its items. */
export async function noteMissingFields(db: Db, place: Place, fields: readonly string[], at: Date): Promise<void> {
  await ops(db)
    .updateTable('known_fields')
    .set({ missingSince: at })
    .where(isAt(place))
    .where('field', 'in', fields)
    .where('missingSince', 'is', null)
    .execute()
}

/** Accepts that fields of a channel (null for the account) are missing. @returns their names, if any is missing */
export async function acceptMissingFields(
  db: Db,
  { stream, channelId, reason, at }: { stream: string; channelId: string | null; reason: string; at: Date },
): Promise<readonly string[]> {
  // A channel's partitions begin with its name.
  const place = channelId === null ? 'account' : `channel=${channelId}`
  const rows = await ops(db)
    .updateTable('known_fields')
    .set({ acceptedAt: at, reason })
    .where('stream', '=', stream)
    .where((eb) => eb(eb.fn<string>('split_part', ['partition', eb.val('/'), eb.lit(1)]), '=', place))
    .where('missingSince', 'is not', null)
    .where('acceptedAt', 'is', null)
    .returning('field')
    .execute()
  return [...new Set(rows.map(({ field }) => field))].sort()
}

/** An index cannot hold longer names; `extra` of the row has the whole name. */
const LONGEST_NAME = 255

/** Remembers fields that the spec does not know. @returns those that are new */
export async function rememberUnknownFields(
  db: Db,
  stream: string,
  fields: Iterable<string>,
  runId: string,
  seenAt: Date,
): Promise<readonly string[]> {
  const names = new Set([...fields].map((field) => cleanText(field.slice(0, LONGEST_NAME))))
  const rows = [...names].map((field) => ({ stream, field, firstSeenAt: seenAt, runId }))
  if (rows.length === 0) return []
  const fresh = await ops(db)
    .insertInto('unknown_fields')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['stream', 'field']).doNothing())
    .returning('field')
    .execute()
  return fresh.map(({ field }) => field)
}
