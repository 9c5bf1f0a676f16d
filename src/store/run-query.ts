import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'

/** Values as `pool.ts` reads them, of queries without times and JSON. */
export type QueryRow = Readonly<Record<string, string | number | boolean | null>>

/** Runs a fixed query as it is written and gives its rows, each with the columns in their order. */
export async function runQuery(db: Kysely<Database>, text: string): Promise<readonly QueryRow[]> {
  const { rows } = await sql.raw<QueryRow>(text).execute(db)
  return rows
}

/** How many rows a table of schema `livehouse` has. */
export async function countRows(db: Kysely<Database>, table: string): Promise<number> {
  const { rows } = await sql<{ count: string }>`select count(*) from ${sql.table(`livehouse.${table}`)}`.execute(db)
  return Number(rows[0]?.count)
}
