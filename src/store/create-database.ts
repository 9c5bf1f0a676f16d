import { sql } from 'kysely'
import { codeOf } from '../core/errors.ts'
import { openDatabase } from './pool.ts'

/** SQLSTATEs if another session creates it at the same time: `duplicate_database`, and the unique index behind it. */
const ALREADY_THERE: ReadonlySet<string> = new Set(['42P04', '23505'])

/**
 * Creates a database unless it exists; several processes may do so at once.
 * @param adminUrl of another database on the same server, such as `postgres`
 * @throws db.unreachable, db.refused
 */
export async function createDatabaseIfMissing(adminUrl: string, name: string, signal: AbortSignal): Promise<void> {
  await using db = await openDatabase(adminUrl, { signal, maxConnections: 1 })
  // The builder knows neither catalogs nor statements about databases.
  const databases = await sql`select from pg_database where datname = ${name}`.execute(db, { signal })
  if (databases.rows.length > 0) return
  try {
    await createDatabase(name).execute(db, { signal })
  } catch (error) {
    if (!ALREADY_THERE.has(codeOf(error))) throw error
  }
}

/** Drops a database of this name with its sessions, and creates an empty one. @throws db.unreachable, db.refused */
export async function recreateDatabase(adminUrl: string, name: string, signal: AbortSignal): Promise<void> {
  await using db = await openDatabase(adminUrl, { signal, maxConnections: 1 })
  await sql`drop database if exists ${sql.id(name)} with (force)`.execute(db, { signal })
  await createDatabase(name).execute(db, { signal })
}

/** Copies template0, which takes no connections: a session on the template would make this fail. */
function createDatabase(name: string) {
  return sql`create database ${sql.id(name)} template template0 encoding 'UTF8'`
}
