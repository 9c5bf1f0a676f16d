import { type Kysely, sql, type Transaction } from 'kysely'
import type { Database } from './database.ts'
import { takeMigrationLock } from './migration-tables.ts'

const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Works in a transaction that holds the migration lock, which ends with it. Waits for another holder as long as it takes,
 * in short waits of the server, so that an abort is noticed between two of them and leaves no waiting session behind.
 *
 * Functions are those of Postgres alone: views keep for ever what their names meant when they were made, and where everybody may
 * create in schema public (the default before PostgreSQL 15) somebody's `convert_to(text, text)` would be a better match.
 */
export async function withMigrationLock<T>(
  db: Kysely<Database>,
  signal: AbortSignal | undefined,
  work: (transaction: Transaction<Database>) => Promise<T>,
): Promise<T> {
  for (;;) {
    signal?.throwIfAborted()
    let hasLock = false
    try {
      return await db.transaction().execute(async (transaction) => {
        const before = await sql<{ lock_timeout: string }>`show lock_timeout`.execute(transaction)
        await sql`select set_config('lock_timeout', '200ms', true), set_config('search_path', 'pg_catalog', true)`.execute(
          transaction,
        )
        await sql.raw(takeMigrationLock).execute(transaction)
        hasLock = true
        await sql`select set_config('lock_timeout', ${before.rows[0]?.lock_timeout}, true)`.execute(transaction)
        return work(transaction)
      })
    } catch (error) {
      if (hasLock || !(error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE)) throw error
    }
  }
}
