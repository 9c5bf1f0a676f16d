import { sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { openDatabase } from './pool.ts'
import { codeOf } from './translate-error.ts'

/** SQLSTATEs of two that create it at once: `duplicate_database`, and the unique index behind it. */
const ALREADY_THERE: ReadonlySet<string> = new Set(['42P04', '23505'])

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
    if (!ALREADY_THERE.has(codeOf(error))) throw error
  }
}

const POLL_MS = 200

export interface FreshDatabase {
  /** Of another database on the same server, as a user that may create databases. */
  readonly adminUrl: string
  readonly name: string
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called once when another works with it. */
  readonly onWait: () => void
}

/**
 * Works with an empty database of this name, one at a time: one that is there goes, and with it who is connected to it.
 * The others wait for an advisory lock; any login could hold it too, and would only make them wait.
 * @throws db.unreachable, db.refused, and whatever `work` throws
 */
export async function withFreshDatabase<T>(
  { adminUrl, name, clock, signal, onWait }: FreshDatabase,
  work: () => Promise<T>,
): Promise<T> {
  await using db = await openDatabase(adminUrl, { signal, maxConnections: 1 })
  // Awaited here: the connection, and with it the lock, ends when this function ends.
  return await db.connection().execute(async (session) => {
    for (let attempt = 1; ; attempt++) {
      const { rows } = await sql<{ isMine: boolean }>`
        select pg_try_advisory_lock(hashtext(${name})) as "isMine"`.execute(session)
      if (rows[0]?.isMine === true) break
      if (attempt === 1) onWait()
      await clock.sleep(POLL_MS, signal)
    }
    await sql`drop database if exists ${sql.id(name)} with (force)`.execute(session, { signal })
    await sql`create database ${sql.id(name)} template template0 encoding 'UTF8'`.execute(session, { signal })
    return await work()
  })
}
