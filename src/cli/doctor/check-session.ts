import type { Kysely } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import { keepsSession } from '../../db/keeps-session.ts'
import { type Check, passed } from './check.ts'

/** Whether locks hold between two statements: not behind a pooler in transaction mode. */
export async function checkSession(db: Kysely<Database>, clock: Clock): Promise<Check> {
  const name = 'sessions'
  if (await keepsSession(db, clock)) return passed(name, 'each connection keeps its session, so locks hold')
  return {
    name,
    result: 'failed',
    seen: 'statements of one connection reach several sessions of the server: a pooler in transaction mode is in between',
    mend: 'let DATABASE_URL lead to PostgreSQL itself, or to a pooler in session mode (PgBouncer: pool_mode = session); two runs at once could read the same lists',
  }
}
