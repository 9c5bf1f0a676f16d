import { type Kysely, sql } from 'kysely'
import type { Database } from '../store/database.ts'

/**
 * Reads within one snapshot of the database, so that what is read fits together, and never for longer than `timeoutMs` a
 * statement: a question that has become too large ends, and the database has rest.
 * @throws db.… codes; db.refused with state 57014 for a statement that took too long
 */
export async function readOnly<T>(
  db: Kysely<Database>,
  timeoutMs: number,
  read: (snapshot: Kysely<Database>) => Promise<T>,
): Promise<T> {
  return await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (snapshot) => {
      await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`.execute(snapshot)
      return await read(snapshot)
    })
}
