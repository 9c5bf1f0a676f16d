import { type Kysely, sql } from 'kysely'
import type { Database } from '../store/database.ts'
import { lockName } from '../store/lock-name.ts'
import { MOST_PARTITIONS } from './merge-slices.ts'

/** So that the statement of no run is long; the next one goes on. */
const MOST_PRUNED = 20_000

/**
 * Deletes from the ledger what says nothing any more, so that it does not grow with the number of runs. Of the readings of a
 * whole list those stay that are the last of their kind, one a day of the service for a year (one that came to its end, if there
 * is one), and surprises of the last day, which a next one is compared with. Of windows, those go that did not land and that later ones cover. Slices of
 * an open backfill stay.
 * @returns how many rows are gone by it
 */
export async function pruneSlices(db: Kysely<Database>, now: Date): Promise<number> {
  return await db.transaction().execute(async (trx) => {
    await lockName(trx, 'ledger')
    const { rows } = await sql`
      with zone as (select coalesce((select time_zone from livehouse_ops.source), 'UTC') as name),
      walks as (
        select slice_id, backfill_id, is_drop, finished_at,
          row_number() over (partition by stream, partition, proof, is_drop order by slice_id desc) as of_kind,
          row_number() over (partition by stream, partition, (finished_at at time zone name)::date
            order by status in ('landed', 'moving') desc, slice_id desc) as of_day
        from zone cross join (select stream, partition from livehouse_ops.partition_states
          where not is_windowed order by random() limit ${MOST_PARTITIONS}) as chosen
          join livehouse_ops.slices using (stream, partition)
      ),
      needless as (
        select slice_id, backfill_id from walks
        where of_kind > 1 and (of_day > 1 or finished_at < ${now}::timestamptz - interval '1 year')
          and not (is_drop and finished_at > ${now}::timestamptz - interval '1 day')
        union all
        select slice_id, backfill_id from livehouse_ops.slices as old
        where status <> 'landed' and not is_drop and reads is not null and (
          select range_agg(covers) @> coalesce(old.covers, old.reads) from livehouse_ops.slices as later
          where later.stream = old.stream and later.partition = old.partition
            and coalesce(later.piece_of, later.slice_id) > old.slice_id and later.status = 'landed' and later.covers && coalesce(old.covers, old.reads))
      )
      delete from livehouse_ops.slices where slice_id in (
        select slice_id from needless where not exists (
          select from livehouse_ops.backfills where backfills.backfill_id = needless.backfill_id and status = 'open')
        order by slice_id limit ${MOST_PRUNED})
      returning slice_id`.execute(trx)
    return rows.length
  })
}
