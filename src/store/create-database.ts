import { sql } from 'kysely'
import { openDatabase } from './pool.ts'

/** SQLSTATEs of two that create it at once: `duplicate_database`, and the unique index behind it. */
const ALREADY_THERE: ReadonlySet<unknown> = new Set(['42P04', '23505'])

/**
 * Creates a database unless it is there; safe with several at once.
 * @param adminUrl of another database on the same server, `postgres` for one
 * @throws db.unreachable, db.refused
 */
export async function createDatabaseIfMissing(adminUrl: string, name: string, signal: AbortSignal): Promise<void> {
  await using db = await openDatabase(adminUrl, { signal, maxConnections: 1 })
  const found = await sql`select from pg_database where datname = ${name}`.execute(db, { signal })
  if (found.rows.length > 0) return
  try {
    // template0 takes no connections, so nobody's connection is in the way of the copy.
    await sql`create database ${sql.id(name)} template template0 encoding 'UTF8'`.execute(db, { signal })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && ALREADY_THERE.has(error.code))) throw error
  }
}
