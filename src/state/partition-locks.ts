import { type Kysely, type RawBuilder, sql } from 'kysely'
import { LivehouseError } from '../core/errors.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import { isConnectionLoss } from '../db/is-connection-loss.ts'
import { type LockSession, openLockSession } from './lock-session.ts'

/**
 * One runner a stream and partition: advisory locks of a session of its own, which end with it, also when the process is
 * killed. They need a session: behind a pooler in transaction mode they do not hold.
 *
 * A session that is lost gives way to another, which takes again what the first held.
 * @throws db.refused, from every method but `release` and `stopWaiting`, when somebody else has it by then;
 * db.unreachable when no other session can be had
 */
export class PartitionLocks implements AsyncDisposable {
  readonly #db: Kysely<Database>
  readonly #held = new Map<string, Key>()
  readonly #waits = new Map<string, Key>()
  /** Undefined from its loss to its renewal. */
  #session: LockSession | undefined
  #renewal: Promise<LockSession> | undefined

  private constructor(db: Kysely<Database>, session: LockSession) {
    this.#db = db
    this.#session = session
  }

  /** Takes one connection of the pool until it is disposed of. */
  static async open(db: Kysely<Database>): Promise<PartitionLocks> {
    return new PartitionLocks(db, await openLockSession(db))
  }

  /** Does not wait. @returns whether it is ours now */
  async tryTake(stream: StreamName, partition: string): Promise<boolean> {
    const key = keyOf(stream, partition)
    const isTaken = await this.#inSession(async (session) => await tryLock(session, key))
    if (isTaken) this.#held.set(key.name, key)
    return isTaken
  }

  /** Makes sure that what was taken is still ours. */
  async keep(): Promise<void> {
    await this.#inSession(async (session) => await sql`select 1`.execute(session))
  }

  async release(stream: StreamName, partition: string): Promise<void> {
    const key = keyOf(stream, partition)
    this.#held.delete(key.name)
    await this.#give(sql`select pg_advisory_unlock(${key.hash})`)
  }

  /** Says that we wait for it, until `stopWaiting`: whoever is patient makes way. */
  async startWaiting(stream: StreamName, partition: string): Promise<void> {
    const key = waitKeyOf(stream, partition)
    await this.#inSession(async (session) => await lockShared(session, key))
    this.#waits.set(key.name, key)
  }

  async stopWaiting(stream: StreamName, partition: string): Promise<void> {
    const key = waitKeyOf(stream, partition)
    this.#waits.delete(key.name)
    await this.#give(sql`select pg_advisory_unlock_shared(${key.hash})`)
  }

  /** Whether somebody else waits for it. */
  async isWaitedFor(stream: StreamName, partition: string): Promise<boolean> {
    const key = waitKeyOf(stream, partition)
    return await this.#inSession(async (session) => {
      if (!(await tryLock(session, key))) return true
      await sql`select pg_advisory_unlock(${key.hash})`.execute(session)
      return false
    })
  }

  /** Never throws: what is wrong with the session is no matter any more, and would hide what went wrong before. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#renewal?.catch(() => {})
    await this.#session?.close()
  }

  /** Gives a lock back; a session that is lost has done so by itself. */
  async #give(statement: RawBuilder<unknown>): Promise<void> {
    await this.#renewal?.catch(() => {})
    const session = this.#session
    if (session === undefined) return
    await statement.execute(session.connection).catch(async (error: unknown) => await this.#lose(session, error))
  }

  async #inSession<T>(work: (connection: Kysely<Database>) => Promise<T>): Promise<T> {
    const session = this.#session
    if (session) {
      try {
        return await work(session.connection)
      } catch (error) {
        await this.#lose(session, error)
      }
    }
    // All who come upon the loss share one renewal.
    this.#renewal ??= this.#renew().finally(() => (this.#renewal = undefined))
    return await work((await this.#renewal).connection)
  }

  /** @throws the error, where it is none of a lost session */
  async #lose(session: LockSession, error: unknown): Promise<void> {
    if (!isConnectionLoss(error)) throw error
    if (session === this.#session) this.#session = undefined
    await session.close()
  }

  async #renew(): Promise<LockSession> {
    if (this.#session) return this.#session
    const session = await openLockSession(this.#db)
    try {
      for (const key of this.#held.values()) {
        if (!(await tryLock(session.connection, key))) throw takenByAnother(key)
      }
      for (const key of this.#waits.values()) await lockShared(session.connection, key)
    } catch (error) {
      await session.close()
      throw error
    }
    this.#session = session
    return session
  }
}

interface Key {
  /** For messages. */
  readonly name: string
  readonly hash: RawBuilder<unknown>
}

async function tryLock(session: Kysely<Database>, { hash }: Key): Promise<boolean> {
  const { rows } = await sql<{ isTaken: boolean }>`select pg_try_advisory_lock(${hash}) as "isTaken"`.execute(session)
  return rows[0]?.isTaken ?? false
}

async function lockShared(session: Kysely<Database>, { hash }: Key): Promise<void> {
  await sql`select pg_advisory_lock_shared(${hash})`.execute(session)
}

/** 55P03 is the SQLSTATE of a lock that is not to be had. */
function takenByAnother({ name }: Key): LivehouseError<'db.refused'> {
  const reason = `the connection that held the locks of this run was lost, and another run has taken ${name} since`
  const message = `Database: ${reason}. This one ends, so that no two work on it; the next run goes on from there.`
  return new LivehouseError('db.refused', message, { reason, sqlState: '55P03' })
}

function keyOf(stream: StreamName, partition: string): Key {
  return { name: `${stream} ${partition}`, hash: sql`hashtextextended(${`livehouse/${stream}/${partition}`}, 0)` }
}

function waitKeyOf(stream: StreamName, partition: string): Key {
  return { name: `${stream} ${partition}`, hash: sql`hashtextextended(${`livehouse/waits/${stream}/${partition}`}, 0)` }
}
