import { sql } from 'kysely'
import { parseRanges, subtractWindows, type Window } from '../../core/slice.ts'
import { formatWallTime, type WallTime } from '../../core/wall-clock.ts'
import type { Db } from '../../store/database.ts'
import { anyOf, ops } from '../ops.ts'
import { selectRunsSince } from '../runs/runs.ts'

/** Which landed slices count as coverage: all, those of one backfill, or those that began since an instant. */
export interface CoverageFilter {
  readonly backfillId?: string | undefined
  readonly begunSince?: Date
  /**
   * Counts only what this lookback does not read again, whatever lookback was in force at the time of reading (if that
   * is not on record, `ofStream`). `timeZone`: the service's.
   */
  readonly settledFor?: { readonly lookbackDays: number; readonly ofStream: number; readonly timeZone: string }
  /** Also counts what is covered before `until` and was read since `since`, both on the service's wall clock. */
  readonly recent?: { readonly since: WallTime; readonly until: WallTime; readonly timeZone: string }
}

/**
 * Subtracts the covered ranges from the wanted ones, in one or two queries for any number of partitions.
 * @param db undefined for a database without a schema, in which nothing is covered
 * @returns by partition, the parts of the wanted range that no landed slice covers, oldest first
 */
export async function readGaps(
  db: Db | undefined,
  stream: string,
  wanted: readonly { readonly partition: string; readonly window: Window }[],
  filter: CoverageFilter = {},
): Promise<ReadonlyMap<string, readonly Window[]>> {
  if (db === undefined) return new Map()
  const names = wanted.map(({ partition }) => partition)
  const { settledFor, recent } = filter
  const coveredRanges = settledFor
    ? await readSettled(db, stream, names, settledFor)
    : await readCovered(db, stream, names, filter)
  const recentRanges = recent === undefined ? [] : await readRecent(db, stream, recent)
  const rowsOf = Map.groupBy([...coveredRanges, ...recentRanges], ({ partition }) => partition)
  return new Map(
    wanted.map(({ partition, window }) => {
      return [partition, subtractWindows(window, rowsOf.get(partition)?.flatMap(({ windows }) => windows) ?? [])]
    }),
  )
}

function toWindows({ partition, ranges }: { readonly partition: string; readonly ranges: string }) {
  return { partition, windows: parseRanges(ranges) }
}

/** What the landed slices of a filter cover, by partition. */
export async function readCovered(db: Db, stream: string, partitions: readonly string[], filter: CoverageFilter) {
  const { backfillId, begunSince } = filter
  if (backfillId === undefined && begunSince === undefined) {
    const states = ops(db).selectFrom('latest_readings').select(['partition', 'covers as ranges'])
    const ofStream = states.where('stream', '=', stream).where('partition', '=', anyOf(partitions))
    return (await ofStream.execute()).map(toWindows)
  }
  const rows = await ops(db)
    .selectFrom('slices')
    .select(({ fn }) => ['partition', fn.agg<string>('range_agg', ['covers']).as('ranges')])
    .where('stream', '=', stream)
    .where('partition', '=', anyOf(partitions))
    .where('status', '=', 'landed')
    .where('covers', 'is not', null)
    .$if(backfillId !== undefined, (query) => query.where('backfillId', '=', backfillId ?? null))
    .$if(begunSince !== undefined, (query) => query.where('startedAt', '>=', begunSince ?? null))
    .groupBy('partition')
    .execute()
  return rows.map(toWindows)
}

/** The view's `settled` applies each slice's own lookback: if one of those was shorter, the slices are read instead. */
async function readSettled(
  db: Db,
  stream: string,
  partitions: readonly string[],
  { lookbackDays, ofStream, timeZone }: NonNullable<CoverageFilter['settledFor']>,
) {
  // Cutting each row's range at a time of its own is plainer in SQL.
  const { rows } = await sql<{ partition: string; ranges: string }>`
    with states as (
      select stream, partition, settled,
        least(shortest_lookback_days, ${ofStream}::integer) >= ${lookbackDays} as is_kept
      from livehouse_ops.latest_readings where stream = ${stream} and partition = any(${partitions}::text[])
    )
    select partition, settled as ranges from states where is_kept
    union all
    select partition, range_agg(case when coalesce(lookback_days, ${ofStream}::integer) >= ${lookbackDays}
      then slices.settled else slices.settled * tsrange(null,
        date_trunc('minute', started_at at time zone ${timeZone}) - make_interval(days => ${lookbackDays})) end)
    from states join livehouse_ops.slices using (stream, partition)
    where not is_kept and slices.status = 'landed' and slices.settled is not null
    group by partition`.execute(db)
  return rows.map(toWindows)
}

/** Finds the slices through the runs of that time, so that the cost does not grow with the ledger. */
async function readRecent(db: Db, stream: string, { since, until, timeZone }: NonNullable<CoverageFilter['recent']>) {
  // Times in a zone and intersections of ranges are plainer in SQL.
  const at = sql<Date>`${formatWallTime(since)}::timestamp at time zone ${timeZone}`
  const part = sql`covers * tsrange(null, ${formatWallTime(until)}::timestamp)`
  const rows = await ops(db)
    .selectFrom('slices')
    .select(({ fn }) => ['partition', fn.agg<string>('range_agg', [part]).as('ranges')])
    .where('runId', 'in', selectRunsSince(db, at))
    .where((slice) => slice.and({ stream, status: 'landed' }))
    .where('finishedAt', '>', at)
    .where('covers', 'is not', null)
    .groupBy('partition')
    .execute()
  return rows.map(toWindows)
}
