import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/database.ts'

/**
 * A connection that is taken out of the pool until it is closed, for advisory locks that end with it. They need a session:
 * behind a pooler in transaction mode they do not hold.
 */
export interface LockSession {
  readonly connection: Kysely<Database>
  /** Gives its locks back. Never throws. */
  readonly close: () => Promise<void>
}

/** @throws db.unreachable */
export async function openLockSession(db: Kysely<Database>): Promise<LockSession> {
  const opened = Promise.withResolvers<Kysely<Database>>()
  const closing = Promise.withResolvers<void>()
  const ended = db.connection().execute(async (connection) => {
    // The server frees the locks of a machine that has vanished when it no longer answers; by itself it asks after two hours.
    await sql`select set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false),
      set_config('tcp_keepalives_count', '3', false)`.execute(connection)
    opened.resolve(connection)
    await closing.promise
    await sql`select pg_advisory_unlock_all()`.execute(connection)
  })
  ended.catch(opened.reject)
  const connection = await opened.promise
  const close = async () => {
    closing.resolve()
    await ended.catch(() => {})
  }
  return { connection, close }
}
