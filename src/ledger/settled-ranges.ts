import { type Kysely, sql } from 'kysely'
import type { Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { WallTime } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { lockName } from '../store/lock-name.ts'
import { formatRange, readBounds } from './wall-range.ts'

/** A part of the ledger. */
export interface LedgerPlace {
  readonly stream: StreamName
  readonly partition: string
  readonly window: Window
}

/** What a reading can agree with: those that ended by then, with pages of another size or on one page. */
export interface Comparable {
  readonly endedBy: Date
  readonly pageSize: number | undefined
}

/** What earlier readings have covered of a window. */
export interface EarlierCoverage {
  /** As `tsmultirange` text. */
  readonly seen: string
  /** How far, from the beginning of the window on without a gap, comparable readings have covered it; undefined for nothing. */
  readonly comparedTo: WallTime | undefined
}

/** @param comparable all readings when not given */
export async function readEarlierCoverage(
  db: Kysely<Database>,
  { stream, partition, window }: LedgerPlace,
  comparable?: Comparable,
): Promise<EarlierCoverage> {
  const range = sql`${formatRange(window)}::tsrange`
  const { endedBy, pageSize = null } = comparable ?? {}
  const isComparable = endedBy
    ? sql`finished_at <= ${endedBy} and (page_size is null or page_size is distinct from ${pageSize}::integer)`
    : sql`true`
  const { rows } = await sql<{ seen: string; lower: string | null; upper: string | null }>`
    with earlier as (
      select coalesce(range_agg(covers * ${range}), '{}') as seen,
        coalesce(range_agg(covers * ${range}) filter (where ${isComparable}), '{}') as compared
      from livehouse_ops.slices
      where stream = ${stream} and partition = ${partition} and status = 'landed' and covers && ${range}
    )
    select seen::text, lower(part)::text as lower, upper(part)::text as upper
    from earlier left join lateral unnest(compared) as part on lower(part) = lower(${range})`.execute(db)
  const [row] = rows
  return { seen: row?.seen ?? '{}', comparedTo: row && readBounds(row.lower, row.upper)?.to }
}

/**
 * How many rows the largest page of the last reading of a window held, and of the one before it, of those that had several pages:
 * none to two numbers.
 */
export async function readLastPageSizes(
  db: Kysely<Database>,
  { stream, partition, window }: LedgerPlace,
): Promise<readonly number[]> {
  const { rows } = await sql<{ size: number }>`
    select max(page_size) as size from livehouse_ops.slices
    where stream = ${stream} and partition = ${partition} and status = 'landed' and covers && ${formatRange(window)}::tsrange
      and page_size is not null
    group by run_id order by run_id desc limit 2`.execute(db)
  return rows.map(({ size }) => size)
}

/**
 * Takes a range out of what is settled, as a reading has found it changed: the next one reads it again. It stays covered. What
 * lies behind it becomes a row of its own.
 */
export async function unsettle(db: Kysely<Database>, { stream, partition, window }: LedgerPlace): Promise<void> {
  const range = sql`${formatRange(window)}::tsrange`
  const before = sql`nullif(settled * tsrange(null, lower(${range})), 'empty')`
  const behind = sql`settled * tsrange(upper(${range}), null)`
  const changed = sql`stream = ${stream} and partition = ${partition} and status = 'landed' and settled && ${range}`
  const { rows } = await sql`select from livehouse_ops.slices where ${changed} limit 1`.execute(db)
  if (rows.length === 0) return
  await lockName(db, 'ledger')
  await sql`
    with further as (
      insert into livehouse_ops.slices (run_id, stream, partition, covers, settled, reads, backfill_id, status, proof, distinct_rows,
        quarantined_rows, calls, retries, acceptance_id, lookback_days, page_size, started_at, finished_at, piece_of)
      select run_id, stream, partition, ${behind}, ${behind}, reads, backfill_id, status, proof, 0, 0, 0, 0, acceptance_id,
        lookback_days, page_size, started_at, finished_at, coalesce(piece_of, slice_id)
      from livehouse_ops.slices where ${changed} and not isempty(${behind})
    )
    update livehouse_ops.slices set settled = ${before} where ${changed}`.execute(db)
}

/** Notes that an audit took a range out of what is covered: until it has been read again, no audit finds the partition equal. */
export async function recordReopened(
  db: Kysely<Database>,
  place: { readonly stream: StreamName; readonly partition: string },
  window: Window,
  at: Date,
): Promise<void> {
  await db
    .insertInto('livehouse_ops.reopened_ranges')
    .values({ ...place, range: formatRange(window), reopened_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** What audits have reopened of a partition and no slice has covered since, oldest first; the rest is forgotten. */
export async function readReopened(
  db: Kysely<Database>,
  stream: StreamName,
  partition: string,
): Promise<readonly Window[]> {
  const place = sql`stream = ${stream} and partition = ${partition}`
  const covered = sql`coalesce((select range_agg(covers) from livehouse_ops.slices
    where ${place} and status = 'landed' and covers && reopened_ranges.range), '{}')`
  await sql`delete from livehouse_ops.reopened_ranges where ${place} and range <@ ${covered}`.execute(db)
  const { rows } = await sql<{ lower: string; upper: string }>`
    select lower(gap)::text as lower, upper(gap)::text as upper
    from livehouse_ops.reopened_ranges, unnest(tsmultirange(range) - ${covered}) as gap
    where ${place} order by gap`.execute(db)
  return rows.flatMap(({ lower, upper }) => readBounds(lower, upper) ?? [])
}
