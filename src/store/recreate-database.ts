import { sql } from 'kysely'
import { openDatabase } from './pool.ts'

/**
 * Makes an empty database of this name; one that is there goes, and with it whoever is connected to it.
 * @param adminUrl of another database on the same server, as a user that may create databases
 * @throws db.unreachable, db.refused
 */
export async function recreateDatabase(adminUrl: string, name: string, signal: AbortSignal): Promise<void> {
  await using db = await openDatabase(adminUrl, { signal, maxConnections: 1 })
  await sql`drop database if exists ${sql.id(name)} with (force)`.execute(db, { signal })
  await sql`create database ${sql.id(name)} template template0 encoding 'UTF8'`.execute(db, { signal })
}
