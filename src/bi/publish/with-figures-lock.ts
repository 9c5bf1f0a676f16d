import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { setLocal } from '../../store/driver.ts'
import { transact } from '../../store/load/load.ts'
import { lockName } from '../../store/lock-name.ts'
import { FIGURES, notesIn, notesOf } from '../views/note-changes.ts'
import { viewsVersion } from './plan-publication.ts'

/** Enough to add up by viewer in memory rather than on disk. Only one such transaction works at a time. */
const WORK_MEMORY = '64MB'

/** Whether a change is noted that what is kept does not include yet: else no transaction need begin. */
export async function isNoted(db: Db, notes: `changed_${string}`): Promise<boolean> {
  const { rows } = await sql`select from ${sql.table(`livehouse_ops.${notes}`)} limit 1`.execute(db)
  return rows.length > 0
}

/**
 * Does one part of the work on kept figures, in a transaction of its own. A stop waits for it, or ends the process.
 * Undefined once `signal` has aborted, and where the views are not of this livehouse: changes are not noted, or figures
 * made otherwise.
 */
export async function withFiguresLock<T>(
  db: Db,
  signal: AbortSignal | undefined,
  work: (trx: Db, zone: string) => Promise<T>,
): Promise<T | undefined> {
  return await transact(db, async (trx) => {
    // Two at once would lock each other's rows in different orders.
    await lockName(trx, FIGURES)
    // Of rows that just came Postgres expects few: it would look through a table for each row of another, or sort.
    await setLocal(trx, { work_mem: WORK_MEMORY, enable_nestloop: 'off', enable_mergejoin: 'off' })
    const { rows } = await sql.raw<{ zone: string | null; notes: string }>(notesIn).execute(trx)
    const { zone = null, notes } = rows[0] ?? {}
    if (zone === null || notes !== notesOf(zone, viewsVersion) || signal?.aborted) return undefined
    if (zone.includes('/')) await setLocal(trx, { timezone: zone })
    return await work(trx, zone)
  })
}
