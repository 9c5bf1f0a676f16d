import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/store/database.ts'
import type { Child } from './start-child.ts'

/**
 * `pg_locks` of the other sessions of this database, with the `state` of each: by itself that view shows those of the whole
 * server, of the tests at work beside this one too.
 */
export const ownLocks = sql`(select lock.*, state from pg_locks as lock join pg_stat_activity using (pid)
  where datname = current_database() and pid <> pg_backend_pid()) as own_lock`

type Query = ReturnType<typeof sql>

/** Only there to end a hang. */
const LONGEST_WAIT_MS = 600_000

/** Asks until there is an answer; fails as soon as one of those that are to bring it about has ended, and after ten minutes. */
export async function untilRow(db: Kysely<Database>, question: Query, children: readonly Child[] = []): Promise<void> {
  const since = performance.now()
  while ((await question.execute(db)).rows.length === 0) {
    if (performance.now() - since > LONGEST_WAIT_MS) {
      throw new Error(`for ten minutes there was no row: ${question.compile(db).sql}`)
    }
    for (const child of children) await child.requireRunning()
    await sql`select pg_sleep(0.02)`.execute(db)
  }
}

/** Until a session of this database waits for a lock such as `condition` says, of the columns of `pg_locks`. */
export async function untilBlocked(db: Kysely<Database>, condition: Query, children: readonly Child[] = []) {
  await untilRow(db, sql`select 1 from ${ownLocks} where not granted and ${condition}`, children)
}

/** Until no other session of this database is in a transaction that writes, or holds an advisory lock. */
export async function untilSilent(db: Kysely<Database>): Promise<void> {
  const busy = sql`select from ${ownLocks} where locktype in ('advisory', 'transactionid')`
  await untilRow(db, sql`select 1 where not exists (${busy})`)
}

/** Once killed processes have left the database: what they held has expired, as it does by itself after 20 s. */
export async function untilExpired(db: Kysely<Database>): Promise<void> {
  await untilSilent(db)
  await sql`update livehouse_ops.leases set expires_at = now()`.execute(db)
}

/** Holds an advisory lock on a connection of its own, for somebody to wait at. @returns gives it back */
export async function holdLock(db: Kysely<Database>, lock: number): Promise<() => Promise<void>> {
  const taken = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const held = db.connection().execute(async (session) => {
    await sql`select pg_advisory_lock(${sql.lit(lock)})`.execute(session)
    taken.resolve()
    await over.promise
    await sql`select pg_advisory_unlock(${sql.lit(lock)})`.execute(session)
  })
  await Promise.race([taken.promise, held])
  return async () => {
    over.resolve()
    await held
  }
}

/** A transaction of its own, for others to wait for; a test that fails within gives it back, so that they and its database can end. */
export async function openTransaction(db: Kysely<Database>) {
  const trx = await db.startTransaction().execute()
  const giveBack = async () => {
    if (!trx.isCommitted && !trx.isRolledBack) await trx.rollback().execute()
  }
  return Object.assign(trx, { [Symbol.asyncDispose]: giveBack })
}
