import { sql } from 'kysely'
import { DAY } from '../../core/wall-clock.ts'
import type { Db } from '../../store/database.ts'
import { lockName } from '../../store/lock-name.ts'
import { selectOpenBackfills } from '../backfills.ts'
import { readSource } from '../source.ts'

const OLD_DAYS = 7
/** How many partitions one run looks at, chosen at random: over many runs, each has its turn. */
export const MAX_PARTITIONS = 250

/**
 * Merges old slices of one stream, partition and proof whose ranges touch or overlap. The row that stays has their
 * range, their sums and the earliest time of reading. Slices of an open backfill, accepted ones and those with
 * surprisingly few rows are left alone. So are slices whose range a later reading found short or failed to read, as a
 * merged row would hide that. Their settled ranges must form one range too, or the merge would change the next sync.
 * @returns how many rows were deleted
 */
export async function mergeSlices(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - OLD_DAYS * DAY * 1000)
  return await db.transaction().execute(async (trx) => {
    await lockName(trx, 'ledger')
    // The builder knows neither window frames nor ranges.
    const { rows } = await sql`
      with chosen as materialized (
        select stream, partition from livehouse_ops.partition_states
        where is_windowed order by random() limit ${MAX_PARTITIONS}
      ),
      old as (
        select slices.*, max(upper(covers)) over (
            partition by stream, partition, proof, lookback_days, page_size order by lower(covers), slice_id
            rows between unbounded preceding and 1 preceding) as earlier_end
        from chosen join livehouse_ops.slices using (stream, partition)
        where status = 'landed' and covers is not null and not is_drop and acceptance_id is null
          and finished_at < ${before} and coalesce(backfill_id, 0) not in (${selectOpenBackfills(trx)})
          and not exists (
            select from livehouse_ops.slices as bad
            where bad.stream = slices.stream and bad.partition = slices.partition
              and (bad.proof in ('short', 'failed') or bad.is_drop or bad.acceptance_id is not null)
              and coalesce(bad.covers, bad.reads) && slices.covers
              and coalesce(bad.piece_of, bad.slice_id) >= coalesce(slices.piece_of, slices.slice_id))
      ),
      islands as (
        select *, count(*) filter (where earlier_end is null or lower(covers) > earlier_end) over (
            partition by stream, partition, proof, lookback_days, page_size order by lower(covers), slice_id) as island
        from old
      ),
      merged as materialized (
        select (array_agg(slice_id order by coalesce(piece_of, slice_id) desc, slice_id))[1] as kept,
          array_agg(slice_id) as slice_ids, max(run_id) as run_id,
          range_merge(range_agg(covers)) as covers, range_merge(range_agg(reads)) as reads,
          range_merge(range_agg(settled)) as settled,
          sum(first_total) as first_total, sum(last_total) as last_total,
          sum(smallest_total) as smallest_total, sum(largest_total) as largest_total,
          sum(distinct_rows) as distinct_rows, sum(quarantined_rows) as quarantined_rows,
          sum(calls) as calls, sum(retries) as retries,
          min(started_at) as started_at, max(finished_at) as finished_at
        from islands group by stream, partition, proof, lookback_days, page_size, island
        having count(*) > 1 and coalesce(range_agg(settled), '{}')
          = tsmultirange(coalesce(range_merge(range_agg(settled)), 'empty'))
      ),
      updated as (
        update livehouse_ops.slices as slice
        set run_id = merged.run_id, covers = merged.covers, reads = merged.reads, settled = merged.settled,
          backfill_id = null, first_total = merged.first_total, last_total = merged.last_total,
          smallest_total = merged.smallest_total, largest_total = merged.largest_total,
          distinct_rows = merged.distinct_rows, quarantined_rows = merged.quarantined_rows,
          calls = merged.calls, retries = merged.retries,
          started_at = merged.started_at, finished_at = merged.finished_at
        from merged where slice.slice_id = merged.kept
      )
      delete from livehouse_ops.slices
      using (select unnest(slice_ids) as slice_id, kept from merged) as gone
      where slices.slice_id = gone.slice_id and gone.slice_id <> gone.kept
      returning slices.slice_id`.execute(trx)
    return rows.length
  })
}

/** Bounds the time of one statement. The next run deletes more. */
const MAX_PRUNED = 20_000

/**
 * Deletes slices that are no longer needed, so that the ledger does not grow with the number of runs. Of whole lists it
 * keeps the last reading with each proof, one reading a day for a year (a complete one, if there is any), and
 * surprisingly small readings of the last day, as the next one is compared with them. Of windows it deletes slices that
 * did not land and whose range later ones cover. Slices of an open backfill stay.
 * @returns how many rows were deleted
 */
export async function pruneSlices(db: Db, now: Date): Promise<number> {
  return await db.transaction().execute(async (trx) => {
    await lockName(trx, 'ledger')
    const { timeZone = 'UTC' } = (await readSource(trx)) ?? {}
    // The builder knows no ranges.
    const { rows } = await sql`
      with whole_lists as (
        select slice_id, backfill_id, is_drop, finished_at,
          row_number() over (partition by stream, partition, proof, is_drop order by slice_id desc) as of_kind,
          row_number() over (partition by stream, partition, (finished_at at time zone ${timeZone})::date
            order by status in ('landed', 'moving') desc, slice_id desc) as of_day
        from (select stream, partition from livehouse_ops.partition_states
          where not is_windowed order by random() limit ${MAX_PARTITIONS}) as chosen
          join livehouse_ops.slices using (stream, partition)
      ),
      needless as (
        select slice_id, backfill_id from whole_lists
        where of_kind > 1 and (of_day > 1 or finished_at < ${now}::timestamptz - interval '1 year')
          and not (is_drop and finished_at > ${now}::timestamptz - interval '1 day')
        union all
        select slice_id, backfill_id from livehouse_ops.slices as old
        where status <> 'landed' and not is_drop and reads is not null and (
          select range_agg(covers) @> coalesce(old.covers, old.reads) from livehouse_ops.slices as later
          where later.stream = old.stream and later.partition = old.partition
            and coalesce(later.piece_of, later.slice_id) > old.slice_id and later.status = 'landed'
            and later.covers && coalesce(old.covers, old.reads))
      )
      delete from livehouse_ops.slices where slice_id in (
        select slice_id from needless where coalesce(backfill_id, 0) not in (${selectOpenBackfills(trx)})
        order by slice_id limit ${MAX_PRUNED})
      returning slice_id`.execute(trx)
    return rows.length
  })
}
