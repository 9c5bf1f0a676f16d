import { type Kysely, type RawBuilder, sql } from 'kysely'
import { formatRange, parseRange, parseRanges, type Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import { formatWallTime, type WallTime } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { lockName } from '../store/lock-name.ts'
import { ops } from './ops.ts'

/** What is wanted of one partition. */
export interface WantedRange {
  /** As in the ledger, such as `channel=9`. */
  readonly partition: string
  readonly window: Window
}

/** Which landed slices count: all, those of one backfill, or those that were begun since an instant. */
export interface CoverageFilter {
  readonly backfillId?: string
  readonly begunSince?: Date
  /**
   * Only what is not read again with this lookback, whichever was in force when it was read (`ofStream` where that was
   * not kept). `timeZone`: the service's.
   */
  readonly settledFor?: { readonly lookbackDays: number; readonly ofStream: number; readonly timeZone: string }
  /** Beside that, what is covered before `until` and was read since `since`, both on the service's wall clock. */
  readonly recent?: { readonly since: WallTime; readonly until: WallTime; readonly timeZone: string }
}

/**
 * Holds wanted ranges against the union of landed ones. One query, whatever the number of partitions. `db`: undefined
 * for a database without a schema, in which nothing is covered.
 * @returns by partition, the parts of the wanted range that no landed slice covers, oldest first
 */
export async function readGaps(
  db: Kysely<Database> | undefined,
  stream: StreamName,
  wanted: readonly WantedRange[],
  { backfillId, begunSince, settledFor, recent }: CoverageFilter = {},
): Promise<ReadonlyMap<string, readonly Window[]>> {
  if (db === undefined) return new Map()
  const { rows } = await sql<{ partition: string; gaps: string }>`
    with wanted as (
      select * from unnest(${wanted.map(({ partition }) => partition)}::text[],
        ${wanted.map(({ window }) => formatRange(window))}::tsrange[]) as w (partition, range)
    ),
    covered as (${settledFor ? settledRanges(stream, settledFor) : coveredRanges(stream, backfillId, begunSince)}),
    recent as (${recentRanges(stream, recent)})
    select partition,
      (tsmultirange(range) - coalesce(covered.ranges, '{}') - coalesce(recent.ranges, '{}'))::text as gaps
    from wanted left join covered using (partition) left join recent using (partition)`.execute(db)
  return new Map(rows.map(({ partition, gaps }) => [partition, parseRanges(gaps)]))
}

function coveredRanges(stream: StreamName, backfillId: string | undefined, begunSince: Date | undefined) {
  if (backfillId === undefined && begunSince === undefined)
    return sql`select partition, covers as ranges from livehouse_ops.partition_states where stream = ${stream}`
  const ofBackfill = backfillId === undefined ? sql`` : sql` and backfill_id = ${backfillId}`
  const since = begunSince === undefined ? sql`` : sql` and started_at > ${begunSince}`
  return sql`
    select partition, range_agg(covers) as ranges from livehouse_ops.slices
    where stream = ${stream} and partition in (select partition from wanted)
      and status = 'landed' and covers is not null${ofBackfill}${since}
    group by partition`
}

/** Slice by slice only where some were read with a shorter lookback: what the database keeps is by their own. */
function settledRanges(
  stream: StreamName,
  { lookbackDays, ofStream, timeZone }: NonNullable<CoverageFilter['settledFor']>,
) {
  const until = sql`date_trunc('minute', started_at at time zone ${timeZone}) - make_interval(days => ${lookbackDays})`
  const isKept = sql`least(shortest_lookback_days, ${ofStream}::integer) >= ${lookbackDays}`
  return sql`
    select partition, settled as ranges from livehouse_ops.partition_states where stream = ${stream} and ${isKept}
    union all
    select partition, range_agg(case when coalesce(lookback_days, ${ofStream}::integer) >= ${lookbackDays}
      then slices.settled else nullif(slices.settled * tsrange(null, ${until}), 'empty') end)
    from livehouse_ops.partition_states as state join livehouse_ops.slices using (stream, partition)
    where stream = ${stream} and partition in (select partition from wanted) and not ${isKept}
      and slices.status = 'landed' and slices.settled is not null
    group by partition`
}

/** By the runs of that time: what it costs does not grow with the ledger. */
function recentRanges(stream: StreamName, recent: CoverageFilter['recent']) {
  if (recent === undefined) return sql`select null::text as partition, null::tsmultirange as ranges where false`
  const { since, until, timeZone } = recent
  const at = sql`${formatWallTime(since)}::timestamp at time zone ${timeZone}`
  return sql`
    select partition, range_agg(covers * tsrange(null, ${formatWallTime(until)}::timestamp)) as ranges
    from livehouse_ops.runs join livehouse_ops.slices using (run_id)
    where (runs.finished_at is null or runs.finished_at > ${at}) and slices.finished_at > ${at}
      and stream = ${stream} and slices.status = 'landed' and covers is not null
    group by partition`
}

/** A part of the ledger. */
export interface LedgerPlace {
  readonly stream: StreamName
  readonly partition: string
  readonly window: Window
}

/** A range that is to be read again, of all or some streams and partitions. */
export interface Forgotten {
  readonly streams: readonly StreamName[]
  /** Undefined for every channel. */
  readonly channels: readonly string[] | undefined
  /** Only this one; every one when not given. */
  readonly partition?: string
  readonly window: Window
}

/** A partition of which a range was covered and no longer is. */
export interface ForgottenPartition {
  readonly stream: string
  readonly partition: string
  /** How many slices had a part in the range. */
  readonly slices: number
}

/**
 * Takes a range out of what is covered: the next sync reads it again. Slices keep the rest of their range.
 * @returns what had a part in it, in order
 */
export async function forgetCoverage(
  db: Kysely<Database>,
  { streams, channels, partition, window }: Forgotten,
): Promise<readonly ForgottenPartition[]> {
  const range = sql`${formatRange(window)}::tsrange`
  const places = [sql`stream = any(${streams}::text[])`]
  if (channels) places.push(sql`substring(partition from 'channel=([^/]*)') = any(${channels}::text[])`)
  if (partition) places.push(sql`partition = ${partition}`)
  const place = sql.join(places, sql` and `)
  return await db.transaction().execute(async (trx) => {
    await lockName(trx, 'ledger')
    // What is half read is begun anew.
    await sql`delete from livehouse_ops.open_slices where ${place} and reads && ${range}`.execute(trx)
    await splitSlices(trx, sql`${place} and covers && ${range}`, range)
    const { rows } = await sql<ForgottenPartition>`
      with forgotten as (
        update livehouse_ops.slices set status = 'forgotten', reads = covers, covers = null, settled = null
        where ${place} and status = 'landed' and covers <@ ${range} returning stream, partition
      )
      select stream, partition, count(*)::integer as slices from forgotten
      group by stream, partition order by stream, partition`.execute(trx)
    return rows
  })
}

/** Takes a range out of what is settled, as a reading has found it changed: it is read again, and stays covered. */
export async function unsettle(trx: Kysely<Database>, { stream, partition, window }: LedgerPlace): Promise<void> {
  const range = sql`${formatRange(window)}::tsrange`
  const isChanged = sql<boolean>`stream = ${stream} and partition = ${partition} and status = 'landed'
    and settled && ${range}`
  const changed = ops(trx).selectFrom('slices').select('sliceId').where(isChanged).limit(1)
  if ((await changed.execute()).length === 0) return
  await lockName(trx, 'ledger')
  await splitSlices(trx, isChanged, range)
  await ops(trx).updateTable('slices').set({ settled: null }).where(isChanged).execute()
}

/**
 * Cuts landed slices at the ends of a range, so that each lies in it or beside it. One beside it keeps the number and
 * the sums; the others say of which they are.
 */
async function splitSlices(trx: Kysely<Database>, which: RawBuilder<unknown>, range: RawBuilder<unknown>) {
  const alike = sql.raw(`run_id, stream, partition, reads, backfill_id, status, proof, acceptance_id, lookback_days,
    page_size, started_at, finished_at`)
  // Ranges, and rows that are made of other rows, are beyond the builder.
  await sql`
    with pieces as (
      select slice_id, piece, row_number() over (partition by slice_id order by piece <@ ${range}, piece) as number
      from livehouse_ops.slices cross join lateral (values (covers * tsrange(null, lower(${range}))),
        (covers * ${range}), (covers * tsrange(upper(${range}), null))) as cut (piece)
      where status = 'landed' and ${which} and not covers <@ ${range} and not isempty(piece)
    ),
    further as (
      insert into livehouse_ops.slices (${alike}, covers, settled, piece_of,
        distinct_rows, quarantined_rows, calls, retries)
      select ${alike}, piece, nullif(settled * piece, 'empty'), coalesce(piece_of, slice_id), 0, 0, 0, 0
      from pieces join livehouse_ops.slices using (slice_id) where number > 1
    )
    update livehouse_ops.slices as slice set covers = piece, settled = nullif(settled * piece, 'empty')
    from pieces where pieces.slice_id = slice.slice_id and number = 1`.execute(trx)
}

/**
 * Forgets what readings claim that are later than any can be, as the service told a wrong time in them: they have seen
 * nothing of the days that they cover, and all is read again. @returns how many there were
 */
export async function forgetReadingsAfter(db: Kysely<Database>, time: Date): Promise<number> {
  const states = ops(db).selectFrom('latest_readings').select(['stream', 'partition'])
  const later = states.where((eb) => eb.or([eb('landedAt', '>', time), eb('latestAt', '>', time)]))
  if ((await later.limit(1).execute()).length === 0) return 0
  return await db.transaction().execute(async (trx) => {
    await lockName(trx, 'ledger')
    await ops(trx).deleteFrom('missed_rows').where('missedAt', '>', time).execute()
    const { numUpdatedRows } = await ops(trx)
      .updateTable('slices')
      .set({ status: 'forgotten', covers: null, settled: null })
      .where('startedAt', '>', time)
      .where('status', '!=', 'forgotten')
      .where((eb) => eb(eb.refTuple('stream', 'partition'), 'in', later.$asTuple('stream', 'partition')))
      .executeTakeFirstOrThrow()
    return Number(numUpdatedRows)
  })
}

/** Notes that an audit has reopened a range: until it has been read again, no audit finds the partition equal. */
export async function recordReopened(
  db: Kysely<Database>,
  place: { readonly stream: StreamName; readonly partition: string },
  window: Window,
  at: Date,
): Promise<void> {
  const row = { ...place, range: formatRange(window), reopenedAt: at }
  await ops(db)
    .insertInto('reopened_ranges')
    .values(row)
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
  const { rows } = await sql<{ gap: string }>`
    select unnest(tsmultirange(range) - ${covered})::text as gap from livehouse_ops.reopened_ranges
    where ${place} order by gap`.execute(db)
  return rows.flatMap(({ gap }) => parseRange(gap) ?? [])
}
