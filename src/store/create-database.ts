import { sql } from 'kysely'
import { openDatabase } from './pool.ts'
import { codeOf } from '../core/errors.ts'

/** SQLSTATEs where another session creates it at once: `duplicate_database`, and the unique index behind it. */
const ALREADY_THERE: ReadonlySet<string> = new Set(['42P04', '23505'])

/**
 * Creates a database unless it is there; safe with several at once.
 * @param adminUrl of another database on the same server, `postgres` for one
 * @throws db.unreachable, db.refused
 */
export async function createDatabaseIfMissing(adminUrl: string, name: string, signal: AbortSignal): Promise<void> {
  await using db = await openDatabase(adminUrl, { signal, maxConnections: 1 })
  // Catalogs, and statements about databases, are unknown to the builder.
  const found = await sql`select from pg_database where datname = ${name}`.execute(db, { signal })
  if (found.rows.length > 0) return
  try {
    await createDatabase(name).execute(db, { signal })
  } catch (error) {
    if (!ALREADY_THERE.has(codeOf(error))) throw error
  }
}

/** Creates an empty database; drops one of this name first, with its sessions. @throws db.unreachable, db.refused */
export async function recreateDatabase(adminUrl: string, name: string, signal: AbortSignal): Promise<void> {
  await using db = await openDatabase(adminUrl, { signal, maxConnections: 1 })
  await sql`drop database if exists ${sql.id(name)} with (force)`.execute(db, { signal })
  await createDatabase(name).execute(db, { signal })
}

/** From template0, which takes no connections: a session on the template would make this fail. */
function createDatabase(name: string) {
  return sql`create database ${sql.id(name)} template template0 encoding 'UTF8'`
}
