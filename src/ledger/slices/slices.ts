import { sql } from 'kysely'
import { formatWindow, isGreen, type Partition, partitionKey, type Place, type Window } from '../../core/slice.ts'
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
  /** The lookback that was in force when it was read. */
  readonly lookbackDays: number
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
    reads: window ? formatWindow(window) : null,
    covers: covers ? formatWindow(covers) : null,
    settled: settled ? formatWindow(settled) : null,
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
  return (await reading.where('walkedAt', '>=', since).executeTakeFirst()) !== undefined
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
 * When the last reading of each of these minutes began, or ended where it covers the minute; undefined: of whole walks.
 * @returns as many instants as minutes, in their order; undefined where it was never read
 */
export async function readLastReading(
  db: Db,
  { stream, partition }: Place,
  minutes: readonly (WallTime | undefined)[],
): Promise<readonly (Date | undefined)[]> {
  const times = minutes.map((minute) => (minute === undefined ? null : formatWallTime(minute)))
  // The builder cannot select from values in their order. Merged slices begin with their earliest reading.
  const { rows } = await sql<{ at: Date | null }>`
    select (
      select max(case when covers @> minute then finished_at else started_at end) from livehouse_ops.slices
      where stream = ${stream} and partition = ${partition} and status in ('landed', 'moving')
        and case when minute is null then reads is null else reads @> minute end
    ) as at
    from unnest(${times}::timestamp[]) with ordinality as asked (minute, number) order by number`.execute(db)
  return rows.map(({ at }) => at ?? undefined)
}

/** The streams that have been read, or tried. */
export async function readStreamsOnRecord(db: Db): Promise<ReadonlySet<string>> {
  return new Set((await ops(db).selectFrom('slices').select('stream').distinct().execute()).map(({ stream }) => stream))
}

/** The number of the newest slice, `0` where there is none; later ones have larger numbers. */
export async function readNewestSlice(db: Db): Promise<string> {
  const newest = ops(db)
    .selectFrom('slices')
    .select(({ fn }) => fn.max('sliceId').as('id'))
  return (await newest.executeTakeFirst())?.id ?? '0'
}

/** Whether any reading of a partition is newer than an entry of the ledger. */
export async function hasSliceAfter(db: Db, place: Place, sliceId: string): Promise<boolean> {
  const slices = ops(db).selectFrom('slices').select('sliceId').where(isAt(place)).where('sliceId', '>', sliceId)
  return (await slices.limit(1).execute()).length > 0
}

/** Forgets all that is covered of a partition: it is read again. */
export async function forgetPartition(trx: Db, place: Place): Promise<void> {
  const landed = ops(trx).updateTable('slices').where(isAt(place)).where('status', '=', 'landed')
  await landed.set({ status: 'forgotten' }).execute()
}

/** A query of when another run last landed a reading of the window; undefined for a whole list. */
export function selectLandedBefore(db: Db, place: Place, window: Window | undefined, runId: string) {
  const landed = ops(db).selectFrom('slices').where(isAt(place)).where('status', '=', 'landed')
  return landed
    .select(({ fn }) => fn.max('finishedAt').as('at'))
    .where('runId', '!=', runId)
    .where((slice) => (window ? slice('reads', '&&', formatWindow(window)) : slice('reads', 'is', null)))
}
