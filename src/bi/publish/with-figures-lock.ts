import { sql } from 'kysely'
import { systemClock } from '../../core/clock.ts'
import { hasCode } from '../../core/errors.ts'
import type { Db } from '../../store/database.ts'
import { setLocal } from '../../store/driver.ts'
import { transact } from '../../store/load/load.ts'
import { lockName } from '../../store/lock-name.ts'
import { FIGURES, notesIn, notesOf } from '../views/note-changes.ts'
import { viewsVersion } from './plan-publication.ts'

/** Enough to add up by viewer in memory rather than on disk. Only one such transaction works at a time. */
const WORK_MEMORY = '64MB'
const CANCELLED = '57014'

/** Whether a change is noted that what is kept does not include yet: else no transaction need begin. */
export async function isNoted(db: Db, notes: `changed_${string}`): Promise<boolean> {
  const { rows } = await sql`select from ${sql.table(`livehouse_ops.${notes}`)} limit 1`.execute(db)
  return rows.length > 0
}

/**
 * Does one part of the work on kept figures, in a transaction of its own. On `signal` its statement is cancelled at
 * once.
 * @param none returned then, and where the views are not of this livehouse: changes are not noted, or figures made
 * otherwise
 */
export async function withFiguresLock<T>(
  db: Db,
  signal: AbortSignal | undefined,
  none: T,
  work: (trx: Db, zone: string) => Promise<T>,
): Promise<T> {
  const isStopped = () => signal?.aborted === true
  try {
    return await transact(db, async (trx) => {
      const { rows: own } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
      let isOver = false
      let sent: Promise<unknown> | undefined
      const cancel = () => {
        const send = async (other: Db): Promise<void> => {
          if (isOver) return
          await (sent = sql`select pg_cancel_backend(${own[0]?.pid}::integer)`.execute(other))
          // A cancel that arrives between two statements has no effect, so it is sent again.
          await systemClock.sleep(100)
          await send(other)
        }
        db.connection()
          .execute(send)
          .catch(() => {})
      }
      signal?.addEventListener('abort', cancel)
      try {
        if (isStopped()) return none
        // Two at once would lock each other's rows in different orders.
        await lockName(trx, FIGURES)
        // Of rows that just came Postgres expects few: it would look through a table for each row of another, or sort.
        await setLocal(trx, { work_mem: WORK_MEMORY, enable_nestloop: 'off', enable_mergejoin: 'off' })
        const { rows } = await sql.raw<{ zone: string | null; notes: string }>(notesIn).execute(trx)
        const { zone = null, notes } = rows[0] ?? {}
        if (zone === null || notes !== notesOf(zone, viewsVersion) || isStopped()) return none
        if (zone.includes('/')) await setLocal(trx, { timezone: zone })
        return await work(trx, zone)
      } finally {
        signal?.removeEventListener('abort', cancel)
        isOver = true
        // A late cancel must not hit the next statement of this session, which may be somebody else's.
        await sent?.catch(() => {})
      }
    })
  } catch (error) {
    if (isStopped() && hasCode(error, 'db.refused') && error.details.sqlState === CANCELLED) return none
    throw error
  }
}
