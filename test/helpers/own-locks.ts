import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/store/database.ts'
import type { Child } from './start-child.ts'

/**
 * The `pg_locks` of the other sessions of this database, with the `state` of each session. The view itself shows the
 * whole server, including tests that run at the same time.
 */
export const ownLocks = sql`(select lock.*, state from pg_locks as lock join pg_stat_activity using (pid)
  where datname = current_database() and pid <> pg_backend_pid()) as own_lock`

type Query = ReturnType<typeof sql>

/** Only a hang takes this long. */
const LONGEST_WAIT_MS = 600_000

/** Repeats a query until it returns a row. @throws after ten minutes, or as soon as one of `children` has ended */
export async function untilRow(db: Kysely<Database>, question: Query, children: readonly Child[] = []): Promise<void> {
  const since = performance.now()
  while ((await question.execute(db)).rows.length === 0) {
    if (performance.now() - since > LONGEST_WAIT_MS) {
      throw new Error(`no row within ten minutes: ${question.compile(db).sql}`)
    }
    for (const child of children) await child.requireRunning()
    await sql`select pg_sleep(0.02)`.execute(db)
  }
}

/** Waits until a session of this database waits for a lock that meets `condition`, on the columns of `pg_locks`. */
export async function untilBlocked(db: Kysely<Database>, condition: Query, children: readonly Child[] = []) {
  await untilRow(db, sql`select 1 from ${ownLocks} where not granted and ${condition}`, children)
}

/** Waits until no other session of this database is in a transaction that writes, or holds an advisory lock. */
export async function untilIdle(db: Kysely<Database>): Promise<void> {
  const busy = sql`select from ${ownLocks} where locktype in ('advisory', 'transactionid')`
  await untilRow(db, sql`select 1 where not exists (${busy})`)
}

/** Waits until killed processes have left the database, and lets their leases expire, as they would after 20 s. */
export async function untilExpired(db: Kysely<Database>): Promise<void> {
  await untilIdle(db)
  await sql`update livehouse_ops.leases set expires_at = now()`.execute(db)
}

/** Holds an advisory lock on a connection of its own, for others to wait for. @returns a function that releases it */
export async function holdLock(db: Kysely<Database>, lock: number): Promise<() => Promise<void>> {
  const acquired = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const holding = db.connection().execute(async (session) => {
    await sql`select pg_advisory_lock(${sql.lit(lock)})`.execute(session)
    acquired.resolve()
    await released.promise
    await sql`select pg_advisory_unlock(${sql.lit(lock)})`.execute(session)
  })
  await Promise.race([acquired.promise, holding])
  return async () => {
    released.resolve()
    await holding
  }
}

/** Opens a transaction for others to wait for. Disposal rolls it back, even if the test fails, so that they can end. */
export async function openTransaction(db: Kysely<Database>) {
  const trx = await db.startTransaction().execute()
  const rollBack = async () => {
    if (!trx.isCommitted && !trx.isRolledBack) await trx.rollback().execute()
  }
  return Object.assign(trx, { [Symbol.asyncDispose]: rollBack })
}
