import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'

/** How many bytes the whole database takes on its server. */
export async function readSize(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`select pg_database_size(current_database()) as bytes`.execute(db)
  return Number(rows[0]?.bytes)
}
