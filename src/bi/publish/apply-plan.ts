import { sql } from 'kysely'
import { codeOf, hasCode, messageOf } from '../../core/errors.ts'
import type { Db } from '../../store/database.ts'
import { withMigrationLock } from '../../store/migration-lock.ts'
import { DEPENDENT_OBJECTS_STILL_EXIST } from '../../store/translate-error.ts'

const MISSING_RIGHT = '42501'
const LOCK_NOT_AVAILABLE = '55P03'

/** `blocked`: nothing has changed; `reason` says why, and what to do about it. */
type PlanOutcome =
  | { readonly status: 'unchanged' | 'published' }
  | { readonly status: 'blocked'; readonly reason: string }

/**
 * Executes the planned statements in one transaction, under the lock of all changes to the schema.
 * @param repair what a DBA has to do if a privilege is missing
 */
export async function applyPlan(
  db: Db,
  signal: AbortSignal | undefined,
  plan: (db: Db) => Promise<readonly string[]>,
  repair: string,
): Promise<PlanOutcome> {
  try {
    if ((await plan(db)).length === 0) return { status: 'unchanged' }
    return await withMigrationLock(db, signal, async (transaction) => {
      // Another process may have done the same while this one waited for the lock.
      const statements = await plan(transaction)
      if (statements.length === 0) return { status: 'unchanged' }
      await sql.raw(statements.join(';\n')).execute(transaction)
      return { status: 'published' }
    })
  } catch (error) {
    // Class 54: a limit of Postgres is exceeded, such as the number of columns of a view.
    if (/^54...$/.test(codeOf(error))) return { status: 'blocked', reason: messageOf(error) }
    if (!hasCode(error, 'db.refused')) throw error
    const { sqlState, reason } = error.details
    if (sqlState === LOCK_NOT_AVAILABLE) return { status: 'blocked', reason }
    const next = 'Save its definition (pg_get_viewdef), drop it, run `livehouse migrate up`, and create it again'
    if (sqlState === DEPENDENT_OBJECTS_STILL_EXIST) return { status: 'blocked', reason: `${reason}. ${next}` }
    if (sqlState === MISSING_RIGHT) return { status: 'blocked', reason: `${reason}. ${repair}` }
    throw error
  }
}
