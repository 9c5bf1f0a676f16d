import { sql } from 'kysely'
import { formatWindow, isGreen, type Partition, type Place, partitionKey, type Window } from '../../core/slice.ts'
import { formatWallTime, type WallTime } from '../../core/wall-clock.ts'
import type { Db } from '../../store/database.ts'
import { isAt, ops, type Row } from '../ops.ts'

/** One reading, as the ledger records it. */
export interface SliceRecord extends Pick<Row<'slices'>, 'runId' | 'isDrop' | 'proof' | 'startedAt' | 'finishedAt'> {
  readonly stream: string
  readonly partition: Partition
  /** The range that was read; undefined for a whole list. */
  readonly window: Window | undefined
  /** The range that it covers once it has landed; undefined if none. */
  readonly covers: Window | undefined
  /** The part of `covers` that is not read again; undefined if none. */
  readonly settled: Window | undefined
  /** The lookback that was in force at the reading. */
  readonly lookbackDays: number
  /** Rows a page; undefined if one page held all rows, or if two page sizes gave the same rows. */
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
  /** Why it is not proven; undefined if it is. */
  readonly error: string | undefined
}

/** Records slices. Run it in the transaction of their last rows, so that coverage never runs ahead of the rows. */
export async function recordSlices(db: Db, slices: readonly SliceRecord[]): Promise<void> {
  const rows = slices.map(({ partition, window, covers, settled, totals, error, ...slice }) => ({
    ...slice,
    partition: partitionKey(partition),
    reads: window ? formatWindow(window) : null,
    covers: covers ? formatWindow(covers) : null,
    settled: settled ? formatWindow(settled) : null,
    // Only landed slices count as covered. A list that moved was read, but is read again.
    status: slice.proof === 'moving' ? slice.proof : isGreen(slice.proof) ? ('landed' as const) : ('failed' as const),
    firstTotal: totals?.first,
    lastTotal: totals?.last,
    smallestTotal: totals?.smallest,
    largestTotal: totals?.largest,
    error: error ?? null,
  }))
  await ops(db).insertInto('slices').values(rows).execute()
}

/** Whether a whole list has landed in this partition since an instant. */
export async function hasLandedSince(db: Db, place: Place, since: Date): Promise<boolean> {
  const reading = ops(db).selectFrom('latest_readings').select('partition').where(isAt(place))
  return (await reading.where('walkedAt', '>=', since).executeTakeFirst()) !== undefined
}

/** How many rows the last landed reading of a whole list before this run found; undefined if there is none. */
export async function readRowsBefore(db: Db, place: Place, runId: string): Promise<number | undefined> {
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
 * When each of these minutes was last read: if the reading covers it, the reading's end, otherwise its beginning.
 * @param minutes undefined for whole lists @returns an instant for each, in order; undefined if it was never read
 */
export async function readLastReading(
  db: Db,
  { stream, partition }: Place,
  minutes: readonly (WallTime | undefined)[],
): Promise<readonly (Date | undefined)[]> {
  const times = minutes.map((minute) => (minute === undefined ? null : formatWallTime(minute)))
  // The builder cannot select from an ordered list of values. A merged slice begins with its earliest reading.
  const { rows } = await sql<{ at: Date | null }>`
    select (
      select max(case when covers @> minute then finished_at else started_at end) from livehouse_ops.slices
      where stream = ${stream} and partition = ${partition} and status in ('landed', 'moving')
        and case when minute is null then reads is null else reads @> minute end
    ) as at
    from unnest(${times}::timestamp[]) with ordinality as asked (minute, number) order by number`.execute(db)
  return rows.map(({ at }) => at ?? undefined)
}

/** The streams of which the ledger has any slice, failed ones included. */
export async function readStreamsOnRecord(db: Db): Promise<ReadonlySet<string>> {
  return new Set((await ops(db).selectFrom('slices').select('stream').distinct().execute()).map(({ stream }) => stream))
}

/** The number of the newest slice, or `0` if there is none. Later slices have larger numbers. */
export async function readNewestSlice(db: Db): Promise<string> {
  const newest = ops(db)
    .selectFrom('slices')
    .select(({ fn }) => fn.max('sliceId').as('id'))
  return (await newest.executeTakeFirst())?.id ?? '0'
}

/** Whether a partition has any slice newer than this one. */
export async function hasSliceAfter(db: Db, place: Place, sliceId: string): Promise<boolean> {
  const slices = ops(db).selectFrom('slices').select('sliceId').where(isAt(place)).where('sliceId', '>', sliceId)
  return (await slices.limit(1).execute()).length > 0
}

/** Forgets the whole coverage of a partition, so that it is read again. */
export async function forgetPartition(trx: Db, place: Place): Promise<void> {
  const landed = ops(trx).updateTable('slices').where(isAt(place)).where('status', '=', 'landed')
  await landed.set({ status: 'forgotten', acceptanceId: null }).execute()
}

/** A subquery of when another run last landed a reading of the window; undefined is the whole list. */
export function selectLandedBefore(db: Db, place: Place, window: Window | undefined, runId: string) {
  const landed = ops(db).selectFrom('slices').where(isAt(place)).where('status', '=', 'landed')
  return landed
    .select(({ fn }) => fn.max('finishedAt').as('at'))
    .where('runId', '!=', runId)
    .where((slice) => (window ? slice('reads', '&&', formatWindow(window)) : slice('reads', 'is', null)))
}
