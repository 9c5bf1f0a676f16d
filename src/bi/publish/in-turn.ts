import { sql } from 'kysely'
import { systemClock } from '../../core/clock.ts'
import { hasCode } from '../../core/errors.ts'
import type { Db } from '../../store/database.ts'
import { setLocal } from '../../store/driver.ts'
import { transact } from '../../store/load/load.ts'
import { lockName } from '../../store/lock-name.ts'
import { FIGURES, notesIn, notesOf } from '../views/note-changes.ts'
import { versionOfViews } from './plan-publication.ts'

/** What is added up by viewer is added up in memory, not on disk. One such transaction is at work at a time. */
const WORK_MEMORY = '64MB'
const CANCELLED = '57014'

/**
 * Does a part of the work on what is kept, in a transaction of its own; where it is stopped its statement ends at once.
 * @param none what comes of it then, and without the views of this livehouse: nothing is noted, or another one works it
 * out otherwise
 */
export async function inTurn<T>(
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
          // One that comes between two statements ends none.
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
        // Two at once would wait for each other's rows, in any order.
        await lockName(trx, FIGURES)
        await setLocal(trx, { work_mem: WORK_MEMORY })
        const { rows } = await sql.raw<{ zone: string | null; notes: string }>(notesIn).execute(trx)
        const { zone = null, notes } = rows[0] ?? {}
        const isOurs = zone !== null && notes === notesOf(zone, versionOfViews(zone))
        return isOurs && !isStopped() ? await work(trx, zone) : none
      } finally {
        signal?.removeEventListener('abort', cancel)
        isOver = true
        // It ends a statement of this transaction, or none: the next of the session may be somebody else's.
        await sent?.catch(() => {})
      }
    })
  } catch (error) {
    if (isStopped() && hasCode(error, 'db.refused') && error.details.sqlState === CANCELLED) return none
    throw error
  }
}
