import { type Kysely, sql } from 'kysely'
import type { Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import { formatRange } from './wall-range.ts'

/** A window of a partition, or a walk over its whole list. */
export interface RowsQuestion {
  /** As in the ledger, such as `channel=9`. */
  readonly partition: string
  readonly window: Window | undefined
}

/** A reading that is longer than the window by more than this says little about it: rows crowd on some days. */
const LONGEST_SHARE = 4

/**
 * How many rows earlier readings let expect: of a whole list its last one; of a window the mean density of those of like length
 * that have met at least half of it. `isCounted`: only totals that the source named count, else the rows that came.
 * @returns as many numbers as questions, in their order; undefined where nothing is known
 */
export async function readKnownRows(
  db: Kysely<Database>,
  stream: StreamName,
  isCounted: boolean,
  questions: readonly RowsQuestion[],
): Promise<readonly (number | undefined)[]> {
  const ranges = questions.map(({ window }) => (window === undefined ? null : formatRange(window)))
  const rowsRead = isCounted ? sql`last_total` : sql`distinct_rows`
  const { rows } = await sql<{ number: string; rows: number }>`
    with asked as (
      select * from unnest(${questions.map(({ partition }) => partition)}::text[], ${ranges}::tsrange[])
        with ordinality as a (partition, range, number)
    ),
    readings as (
      select slice_id, partition, reads, ${rowsRead}::float8 as rows,
        extract(epoch from upper(reads) - lower(reads))::float8 as seconds
      from livehouse_ops.slices where stream = ${stream} and partition in (select partition from asked) and calls > 0 and ${rowsRead} is not null
        and (status <> 'failed' or proof = 'short')
    ),
    walks as (
      select distinct on (number) number, rows from asked join readings using (partition)
      where range is null and reads is null order by number, slice_id desc
    ),
    met as (
      select number, range, rows, seconds, range * reads as part,
        extract(epoch from upper(range * reads) - lower(range * reads))::float8 as met_seconds,
        extract(epoch from upper(range) - lower(range))::float8 as asked_seconds
      from asked join readings using (partition) where range && reads
    ),
    windows as (
      select number, max(asked_seconds) * sum(rows * met_seconds / seconds) / sum(met_seconds) as rows
      from met where seconds <= asked_seconds * ${isCounted ? LONGEST_SHARE : 1e9}::float8
      group by number
      having (select sum(extract(epoch from upper(each) - lower(each))) from unnest(range_agg(part)) as each) * 2
        >= max(asked_seconds)
    )
    select number, rows from walks union all select number, rows from windows`.execute(db)
  const known = new Map(rows.map((row) => [Number(row.number), row.rows]))
  return questions.map((_, index) => known.get(index + 1))
}
