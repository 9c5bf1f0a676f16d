import { type Kysely, sql } from 'kysely'
import { formatRange, isGreen, type Partition, partitionKey, type Proof, type Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import { formatWallTime, type WallTime } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'

/** What the ledger keeps of one extraction. */
export interface SliceRecord {
  readonly runId: string
  readonly stream: StreamName
  readonly partition: Partition
  /** What it read; undefined for a snapshot walk. */
  readonly window: Window | undefined
  /** What it covers once it has landed; undefined where nothing. */
  readonly covers: Window | undefined
  /** The part of that which is not read again; undefined where nothing. */
  readonly settled: Window | undefined
  /** How long rows may still change, as it was when it was read; as the stream says when not given. */
  readonly lookbackDays?: number | undefined
  /** Rows of a page as they came; undefined where all lay on one, or pages of two sizes brought the same. */
  readonly pageSize?: number | undefined
  readonly backfillId: string | undefined
  readonly proof: Proof
  readonly totals:
    | { readonly first: number; readonly last: number; readonly smallest: number; readonly largest: number }
    | undefined
  readonly distinctRows: number
  readonly quarantinedRows: number
  readonly calls: number
  readonly retries: number
  /** Whether it found surprisingly few rows. */
  readonly isDrop: boolean
  /** How many rows it lacks; undefined where none is known to be missing. */
  readonly missingRows?: number | undefined
  /** The acceptance by which its shortfall counts as accepted. */
  readonly acceptanceId?: string | undefined
  /** Why it is not proven; undefined where it is. */
  readonly error: string | undefined
  readonly startedAt: Date
  readonly finishedAt: Date
}

/** Writes a slice into the ledger; in the transaction of its last rows, so that coverage never runs ahead of rows. */
export async function recordSlice(db: Kysely<Database>, slice: SliceRecord): Promise<void> {
  const row = {
    run_id: slice.runId,
    stream: slice.stream,
    partition: partitionKey(slice.partition),
    reads: slice.window ? formatRange(slice.window) : null,
    covers: slice.covers ? formatRange(slice.covers) : null,
    settled: slice.settled ? formatRange(slice.settled) : null,
    backfill_id: slice.backfillId ?? null,
    status: statusOf(slice.proof),
    proof: slice.proof,
    first_total: slice.totals?.first ?? null,
    last_total: slice.totals?.last ?? null,
    smallest_total: slice.totals?.smallest ?? null,
    largest_total: slice.totals?.largest ?? null,
    distinct_rows: slice.distinctRows,
    quarantined_rows: slice.quarantinedRows,
    calls: slice.calls,
    retries: slice.retries,
    is_drop: slice.isDrop,
    missing_rows: slice.missingRows ?? null,
    acceptance_id: slice.acceptanceId ?? null,
    lookback_days: slice.lookbackDays ?? null,
    page_size: slice.pageSize ?? null,
    error: slice.error ?? null,
    started_at: slice.startedAt,
    finished_at: slice.finishedAt,
  }
  await db.insertInto('livehouse_ops.slices').values(row).execute()
}

/** Whether a whole walk of this partition has landed since an instant. */
export async function hasLandedSince(
  db: Kysely<Database>,
  stream: StreamName,
  partition: string,
  since: Date,
): Promise<boolean> {
  const row = await db
    .selectFrom('livehouse_ops.latest_readings')
    .select('partition')
    .where('stream', '=', stream)
    .where('partition', '=', partition)
    .where('walked_at', '>', since)
    .executeTakeFirst()
  return row !== undefined
}

/** How many rows the last landed walk of a partition before this run found; undefined without one. */
export async function readWalkBefore(
  db: Kysely<Database>,
  stream: StreamName,
  partition: string,
  runId: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('livehouse_ops.slices')
    .select('distinct_rows')
    .where('stream', '=', stream)
    .where('partition', '=', partition)
    .where('status', '=', 'landed')
    .where('run_id', '!=', runId)
    .orderBy('slice_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row === undefined ? undefined : Number(row.distinct_rows)
}

/** Only what is settled counts as covered. A list that moved has been read, but is read again. */
function statusOf(proof: Proof): 'landed' | 'moving' | 'failed' {
  if (proof === 'moving') return proof
  return isGreen(proof) ? 'landed' : 'failed'
}

/**
 * When the last reading began that brought these minutes of a partition; undefined (for a minute) asks for whole walks.
 * @returns as many instants as minutes, in their order; undefined where it was never read
 */
export async function readLastReading(
  db: Kysely<Database>,
  stream: StreamName,
  partition: string,
  minutes: readonly (WallTime | undefined)[],
): Promise<readonly (Date | undefined)[]> {
  const times = minutes.map((minute) => (minute === undefined ? null : formatWallTime(minute)))
  const { rows } = await sql<{ at: Date | null }>`
    select (
      select max(started_at) from livehouse_ops.slices
      where stream = ${stream} and partition = ${partition} and status in ('landed', 'moving')
        and case when minute is null then reads is null else reads @> minute end
    ) as at
    from unnest(${times}::timestamp[]) with ordinality as asked (minute, number) order by number`.execute(db)
  return rows.map(({ at }) => at ?? undefined)
}
