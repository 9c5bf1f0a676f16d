import { sql } from 'kysely'
import type { Db } from '../store/database.ts'

/** How many rows a table has. */
export interface TableSize {
  readonly rows: number
  /** Whether the rows were counted; otherwise `rows` is an estimate from the database's statistics. */
  readonly isExact: boolean
}

/** Tables of up to this many rows are counted, which takes no noticeable time. */
const MAX_COUNTED_ROWS = 50_000

/** The sizes of the tables of schema `livehouse`, by name. An estimate is never below `MAX_COUNTED_ROWS`. */
export async function readTableSizes(db: Db): Promise<ReadonlyMap<string, TableSize>> {
  // The builder does not know the catalogs.
  const { rows: tables } = await sql<{ name: string; estimate: number }>`
    select relname::text as name, reltuples::float8 as estimate from pg_class
    where relnamespace = to_regnamespace('livehouse') and relkind in ('r', 'p')`.execute(db)
  const sizes = new Map<string, TableSize>()
  for (const { name, estimate } of tables) {
    const rows = db.selectFrom(sql.table(`livehouse.${name}`).as('t')).select((eb) => eb.lit(1).as('one'))
    const counting = db.selectFrom(rows.limit(MAX_COUNTED_ROWS + 1).as('counted'))
    const { found } = await counting.select(({ fn }) => fn.countAll().as('found')).executeTakeFirstOrThrow()
    const count = Number(found)
    const isExact = count <= MAX_COUNTED_ROWS
    sizes.set(name, { rows: isExact ? count : Math.max(estimate, MAX_COUNTED_ROWS), isExact })
  }
  return sizes
}

/** Adding up more records takes too long for a page. */
const MAX_SUMMED_ROWS = 1_000_000

/**
 * The hours that viewers watched since `since`, by the service's day on which they came, in order; undefined if there
 * are too many records to add up.
 */
export async function readWatchedDays(
  db: Db,
  { sizes, timeZone }: { readonly sizes: ReadonlyMap<string, TableSize>; readonly timeZone: string },
  since: Date,
) {
  const size = sizes.get('watch_records')
  // An estimate below the count so far is wrong: the statistics are older than the rows.
  const isUnknown = size !== undefined && !size.isExact && size.rows <= MAX_COUNTED_ROWS
  if (isUnknown || (size?.rows ?? 0) > MAX_SUMMED_ROWS) return undefined
  // The builder does not know the tables of streams.
  const { rows } = await sql<{ readonly day: string; readonly hours: number }>`
    select (entered_at at time zone ${timeZone})::date::text as day, sum(watch_seconds) / 3600::float8 as hours
    from livehouse.watch_records where entered_at >= ${since} group by day order by day`.execute(db)
  return rows
}
