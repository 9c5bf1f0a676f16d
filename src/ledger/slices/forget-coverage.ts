import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { formatWindow, type Place, parseRanges, subtractWindows, type Window } from '../../core/slice.ts'
import type { Db } from '../../store/database.ts'
import { forgetMissedRows } from '../../store/load/table-part.ts'
import { lockName } from '../../store/lock-name.ts'
import { closeOpenSlices } from '../open-slices.ts'
import { anyOf, isAt, type Ops, ops } from '../ops.ts'
import { readCovered } from './coverage.ts'

/** A range of one partition. */
export interface LedgerPlace extends Place {
  readonly window: Window
}

/** A range of these streams to read again. */
export interface RangeToForget {
  readonly streams: readonly string[]
  /** Undefined for every channel. */
  readonly channels: readonly string[] | undefined
  /** A single partition; all when not given. */
  readonly partition?: string | undefined
  readonly window: Window
}

/** A partition that lost coverage, or the record of failed readings. `slices`: how many of them lay in the range. */
export type ForgottenPartition = Awaited<ReturnType<typeof forgetCoverage>>[number]

/**
 * Removes a range from the coverage, so that the next sync reads it again. Slices keep the rest of their range. Failed
 * readings within the range are forgotten too, or a range that the service refuses would stay a problem for good.
 * @returns the partitions that had slices in the range, in order
 */
export async function forgetCoverage(db: Db, { streams, channels, partition, window }: RangeToForget) {
  const range = formatWindow(window)
  const place = (eb: ExpressionBuilder<Ops, 'slices' | 'open_slices'>) => {
    const channel = eb.fn<string>('split_part', ['partition', eb.val('/'), eb.lit(1)])
    const inChannels = channels && eb(channel, '=', anyOf(channels.map((id) => `channel=${id}`)))
    const inPartition = partition === undefined ? eb.lit(true) : eb('partition', '=', partition)
    return eb.and([eb('stream', '=', anyOf(streams)), inChannels ?? eb.lit(true), inPartition])
  }
  return await db.transaction().execute(async (trx) => {
    await lockName(trx, 'ledger')
    // A slice that is partly read starts again.
    await closeOpenSlices(trx, (eb) => eb.and([place(eb), eb('reads', '&&', range)]))
    const landed = ops(trx).selectFrom('slices').select('sliceId').where('status', '=', 'landed').where(place)
    await splitSlices(trx, landed.where('covers', '&&', range), range)
    const forgotten = await ops(trx)
      .with('forgotten', (db) =>
        db
          .updateTable('slices')
          .set((eb) => ({ ...withoutCoverage, reads: eb.fn.coalesce('covers', 'reads') }))
          .where(place)
          .where((eb) => eb.or([isLanded(eb).and('covers', '<@', range), hasFailed(eb).and('reads', '<@', range)]))
          .returning(['stream', 'partition']),
      )
      .selectFrom('forgotten')
      .select(({ fn }) => ['stream', 'partition', fn.countAll<string>().as('slices')])
      .groupBy(['stream', 'partition'])
      .orderBy('stream', (order) => order.collate('C'))
      .orderBy('partition', (order) => order.collate('C'))
      .execute()
    return forgotten.map(({ slices, ...partition }) => ({ ...partition, slices: Number(slices) }))
  })
}

const withoutCoverage = { status: 'forgotten', covers: null, settled: null, acceptanceId: null } as const
const isLanded = (eb: ExpressionBuilder<Ops, 'slices'>) => eb('status', '=', 'landed')
const hasFailed = (eb: ExpressionBuilder<Ops, 'slices'>) => eb('status', '=', 'failed')

/** Marks a range as not settled, after a reading found it changed: it stays covered, and is read again. */
export async function markUnsettled(trx: Db, { stream, partition, window }: LedgerPlace): Promise<void> {
  const range = formatWindow(window)
  const isChanged = (eb: ExpressionBuilder<Ops, 'slices'>) =>
    eb.and([eb.and({ stream, partition, status: 'landed' }), eb('settled', '&&', range)])
  const changed = ops(trx).selectFrom('slices').select('sliceId').where(isChanged)
  if ((await changed.limit(1).execute()).length === 0) return
  await lockName(trx, 'ledger')
  await splitSlices(trx, changed, range)
  await ops(trx).updateTable('slices').set({ settled: null }).where(isChanged).execute()
}

/**
 * Cuts landed slices at the ends of a range, so that each piece lies either inside or outside. The first piece outside
 * keeps the number and the sums; the others refer to that number (`piece_of`).
 */
async function splitSlices(trx: Db, slices: SelectQueryBuilder<Ops, 'slices', { sliceId: string }>, range: string) {
  const slicesToCut = await slices.where((eb) => eb.not(eb('covers', '<@', range))).execute()
  if (slicesToCut.length === 0) return
  const ids = slicesToCut.map(({ sliceId }) => sliceId)
  // The builder knows no ranges.
  await sql`
    with pieces as (
      select slice_id, piece, row_number() over (
        partition by slice_id order by piece <@ ${range}::tsrange, piece) as number
      from livehouse_ops.slices cross join lateral (values (covers * tsrange(null, lower(${range}::tsrange))),
        (covers * ${range}::tsrange), (covers * tsrange(upper(${range}::tsrange), null))) as cut (piece)
      where slice_id = any(${ids}::bigint[]) and not isempty(piece)
    ),
    further as (
      insert into livehouse_ops.slices (run_id, stream, partition, reads, backfill_id, status, proof, acceptance_id,
        lookback_days, page_size, started_at, finished_at, covers, settled, piece_of,
        distinct_rows, quarantined_rows, calls, retries)
      select run_id, stream, partition, reads, backfill_id, status, proof, acceptance_id, lookback_days, page_size,
        started_at, finished_at, piece, nullif(settled * piece, 'empty'), coalesce(piece_of, slice_id), 0, 0, 0, 0
      from pieces join livehouse_ops.slices using (slice_id) where number > 1
    )
    update livehouse_ops.slices as slice set covers = piece, settled = nullif(settled * piece, 'empty')
    from pieces where pieces.slice_id = slice.slice_id and number = 1`.execute(trx)
}

/**
 * Forgets readings that began after `time`, the present by the service's clock. That clock was ahead when they began,
 * so they cover days that had not happened yet. @returns how many there were
 */
export async function forgetReadingsAfter(db: Db, time: Date): Promise<number> {
  const states = ops(db).selectFrom('latest_readings').select(['stream', 'partition'])
  const laterStates = states.where((eb) => eb.or([eb('landedAt', '>', time), eb('latestAt', '>', time)]))
  if ((await laterStates.limit(1).execute()).length === 0) return 0
  return await db.transaction().execute(async (trx) => {
    await lockName(trx, 'ledger')
    await forgetMissedRows(trx, time)
    const { numUpdatedRows } = await ops(trx)
      .updateTable('slices')
      .set(withoutCoverage)
      .where('startedAt', '>', time)
      .where('status', '!=', 'forgotten')
      .where((eb) => eb(eb.refTuple('stream', 'partition'), 'in', laterStates.$asTuple('stream', 'partition')))
      .executeTakeFirstOrThrow()
    return Number(numUpdatedRows)
  })
}

/** Records that an audit has reopened a range: until it is read again, no audit finds the partition equal. */
export async function recordReopened(db: Db, place: Place, window: Window, at: Date): Promise<void> {
  const row = { ...place, range: formatWindow(window), reopenedAt: at }
  await ops(db)
    .insertInto('reopened_ranges')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The reopened ranges of a partition that are not covered yet, oldest first. Deletes the records of covered ones. */
export async function readReopened(db: Db, place: Place): Promise<readonly Window[]> {
  const rows = await ops(db).selectFrom('reopened_ranges').select('range').where(isAt(place)).execute()
  if (rows.length === 0) return []
  const covered = (await readCovered(db, place.stream, [place.partition], {})).flatMap(({ windows }) => windows)
  const open: Window[] = []
  for (const { range } of rows) {
    const gaps = parseRanges(range).flatMap((each) => subtractWindows(each, covered))
    const row = ops(db).deleteFrom('reopened_ranges').where(isAt(place)).where('range', '=', range)
    if (gaps.length === 0) await row.execute()
    open.push(...gaps)
  }
  return open.sort((a, b) => a.from - b.from)
}
