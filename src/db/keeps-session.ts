import { type Kysely, sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import type { Database } from './database.ts'

/** A pooler with one connection makes us wait for ourselves. */
const PATIENCE_MS = 3000

/**
 * Whether a connection of ours keeps one process of the server, so that locks of its session hold. A pooler in transaction mode
 * gives each transaction another one: while a second connection holds the process that the first has just used, the
 * first is answered by another one, or by none.
 */
export async function keepsSession(db: Kysely<Database>, clock: Clock): Promise<boolean> {
  const processOf = async (session: Kysely<Database>): Promise<number | undefined> => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(session)
    return rows[0]?.pid
  }
  return await db.connection().execute(async (first) => {
    const before = await processOf(first)
    const held = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    const holding = db.transaction().execute(async (second) => {
      await processOf(second)
      held.resolve()
      await over.promise
    })
    await Promise.race([held.promise, holding])
    const asked = processOf(first)
    const waited = new AbortController()
    const isLate = clock.sleep(PATIENCE_MS, waited.signal).catch(() => {})
    const answer = await Promise.race([asked, isLate.then(() => undefined)])
    waited.abort()
    over.resolve()
    await Promise.all([asked, holding])
    return answer !== undefined && answer === before
  })
}
