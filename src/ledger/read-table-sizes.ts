import { type Kysely, sql } from 'kysely'
import type { Database } from '../store/database.ts'

/** How many rows a table has. */
export interface TableSize {
  readonly rows: number
  /** Counted; else the estimate of the database's statistics. */
  readonly isExact: boolean
}

/** Up to here counting costs nothing that anybody notices. */
const MOST_COUNTED = 50_000

/** The tables of schema `livehouse`, by name. Large ones are never counted: of them it is the estimate, and `MOST_COUNTED` at least. */
export async function readTableSizes(db: Kysely<Database>): Promise<ReadonlyMap<string, TableSize>> {
  const { rows: tables } = await sql<{ name: string; estimate: number }>`
    select relname::text as name, reltuples::float8 as estimate from pg_class
    where relnamespace = to_regnamespace('livehouse') and relkind in ('r', 'p')`.execute(db)
  const sizes = new Map<string, TableSize>()
  for (const { name, estimate } of tables) {
    sizes.set(name, estimate > MOST_COUNTED ? { rows: estimate, isExact: false } : await countUpTo(db, name))
  }
  return sizes
}

/** A table that has grown since its statistics were made is counted no further. */
async function countUpTo(db: Kysely<Database>, name: string): Promise<TableSize> {
  const { rows } = await sql<{ count: string }>`
    select count(*) from (select from ${sql.table(`livehouse.${name}`)} limit ${MOST_COUNTED + 1}) as counted`.execute(
    db,
  )
  const counted = Number(rows[0]?.count)
  return { rows: Math.min(counted, MOST_COUNTED), isExact: counted <= MOST_COUNTED }
}
