import type { Clock } from '../core/clock.ts'
import { hasCode } from '../core/errors.ts'

/** What `/readyz` answers: the state of process and database, no data. */
export interface Readiness {
  readonly status: 'ready' | 'not ready'
  readonly database: 'ok' | 'unreachable' | 'newer' | 'pending migrations'
  readonly pending_migrations: readonly string[]
}

/** An answer is kept for so long, as the path is open to all. */
const KEPT_MS = 1000
/** How long a request for readiness or metrics waits for the database. */
export const LONGEST_ANSWER_MS = 3000

/** Asks the database each time, but no more than once a second, and gives it 3 seconds. Never throws. */
export function createReadiness(deps: {
  readonly clock: Clock
  /** Names of migrations that the database has not had. @throws db.… codes */
  readonly readPending: () => Promise<readonly string[]>
}): () => Promise<Readiness> {
  let last: { readonly answer: Promise<Readiness>; readonly atMs: number } | undefined
  return async () => {
    const now = deps.clock.now()
    if (last === undefined || now - last.atMs >= KEPT_MS) {
      last = { answer: within(deps.clock, LONGEST_ANSWER_MS, ask(deps.readPending), away), atMs: now }
    }
    return await last.answer
  }
}

const away: Readiness = { status: 'not ready', database: 'unreachable', pending_migrations: [] }

async function ask(readPending: () => Promise<readonly string[]>): Promise<Readiness> {
  try {
    const pending = await readPending()
    if (pending.length > 0) return { ...away, database: 'pending migrations', pending_migrations: pending }
    return { status: 'ready', database: 'ok', pending_migrations: [] }
  } catch (error) {
    return hasCode(error, 'db.newer') ? { ...away, database: 'newer' } : away
  }
}

/** The result of `work`, or `otherwise` where that takes longer than `ms`; the work is not stopped. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>, otherwise: T): Promise<T> {
  const enough = new AbortController()
  const tooLate = clock.sleep(ms, enough.signal).catch(() => {})
  try {
    return await Promise.race([work, tooLate.then(() => otherwise)])
  } finally {
    enough.abort()
  }
}
