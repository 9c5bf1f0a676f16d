import { sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { openDatabase } from './pool.ts'

const POLL_MS = 200

export interface SessionLockOptions {
  /** Any number of ours; one for each purpose. */
  readonly key: number
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called once when another holds the lock. */
  readonly onWait: () => void
}

/**
 * Works while holding an advisory lock of this database, on a connection of its own that ends with the work: a killed
 * holder leaves no lock. Not through a pooler, which gives the session to someone else.
 * @throws db.unreachable, db.refused, and whatever `work` throws
 */
export async function withSessionLock<T>(
  url: string,
  { key, clock, signal, onWait }: SessionLockOptions,
  work: () => Promise<T>,
): Promise<T> {
  await using db = await openDatabase(url, { signal, maxConnections: 1 })
  // Awaited here: the connection closes when this function ends.
  return await db.connection().execute(async (session) => {
    for (let attempt = 1; ; attempt++) {
      const { rows } = await sql<{ isMine: boolean }>`select pg_try_advisory_lock(${key}) as "isMine"`.execute(session)
      if (rows[0]?.isMine === true) return work()
      if (attempt === 1) onWait()
      await clock.sleep(POLL_MS, signal)
    }
  })
}
