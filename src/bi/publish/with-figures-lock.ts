import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { setLocal } from '../../store/driver.ts'
import { transact } from '../../store/load/load.ts'
import { lockName } from '../../store/lock-name.ts'
import { FIGURES_LOCK, storedVersion, triggersVersion } from '../views/change-triggers.ts'
import { viewsVersion } from './plan-publication.ts'

/** `work_mem` that keeps sums by viewer in memory. Only one such transaction runs at a time. */
const WORK_MEMORY = '64MB'

/** Whether changes are noted that stored figures do not include yet. If not, no transaction is needed. */
export async function hasChanges(db: Db, notes: `changed_${string}`): Promise<boolean> {
  const { rows } = await sql`select from ${sql.table(`livehouse_ops.${notes}`)} limit 1`.execute(db)
  return rows.length > 0
}

/**
 * Runs one part of the work on stored figures, in a transaction of its own that an abort does not interrupt. Returns
 * undefined if `signal` has aborted, or if the published views are of another version and compute figures otherwise.
 */
export async function withFiguresLock<T>(
  db: Db,
  signal: AbortSignal | undefined,
  work: (trx: Db, zone: string) => Promise<T>,
): Promise<T | undefined> {
  if (signal?.aborted) return undefined
  return await transact(db, async (trx) => {
    // Two at once would lock the same rows in different orders, and deadlock.
    await lockName(trx, FIGURES_LOCK)
    // Postgres expects few new rows, and would join them by nested loops or by sorting.
    await setLocal(trx, { work_mem: WORK_MEMORY, enable_nestloop: 'off', enable_mergejoin: 'off' })
    const { rows } = await sql.raw<{ zone: string | null; version: string }>(storedVersion).execute(trx)
    const { zone = null, version } = rows[0] ?? {}
    if (zone === null || version !== triggersVersion(zone, viewsVersion) || signal?.aborted) return undefined
    if (zone.includes('/')) await setLocal(trx, { timezone: zone })
    return await work(trx, zone)
  })
}
