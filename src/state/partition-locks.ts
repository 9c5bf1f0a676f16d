import { type Kysely, sql } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'

/**
 * One runner a stream and partition: advisory locks of a session of its own, which end with it, also when the process is
 * killed. They need a session: behind a pooler in transaction mode they do not hold.
 */
export class PartitionLocks implements AsyncDisposable {
  readonly #session: Kysely<Database>
  readonly #end: () => void
  readonly #ended: Promise<void>

  private constructor(session: Kysely<Database>, end: () => void, ended: Promise<void>) {
    this.#session = session
    this.#end = end
    this.#ended = ended
  }

  /** Takes one connection of the pool until it is disposed of. */
  static async open(db: Kysely<Database>): Promise<PartitionLocks> {
    const opened = Promise.withResolvers<Kysely<Database>>()
    const closing = Promise.withResolvers<void>()
    const ended = db.connection().execute(async (session) => {
      opened.resolve(session)
      await closing.promise
      await sql`select pg_advisory_unlock_all()`.execute(session)
    })
    ended.catch(opened.reject)
    return new PartitionLocks(await opened.promise, closing.resolve, ended)
  }

  /** Does not wait. @returns whether it is ours now */
  async tryTake(stream: StreamName, partition: string): Promise<boolean> {
    const { rows } = await sql<{ taken: boolean }>`
      select pg_try_advisory_lock(${keyOf(stream, partition)}) as taken`.execute(this.#session)
    return rows[0]?.taken ?? false
  }

  async release(stream: StreamName, partition: string): Promise<void> {
    await sql`select pg_advisory_unlock(${keyOf(stream, partition)})`.execute(this.#session)
  }

  /** Says that we wait for it, until `stopWaiting`: whoever is patient makes way. */
  async startWaiting(stream: StreamName, partition: string): Promise<void> {
    await sql`select pg_advisory_lock_shared(${waitKeyOf(stream, partition)})`.execute(this.#session)
  }

  async stopWaiting(stream: StreamName, partition: string): Promise<void> {
    await sql`select pg_advisory_unlock_shared(${waitKeyOf(stream, partition)})`.execute(this.#session)
  }

  /** Whether somebody else waits for it. */
  async isWaitedFor(stream: StreamName, partition: string): Promise<boolean> {
    const key = waitKeyOf(stream, partition)
    const { rows } = await sql<{ free: boolean }>`select pg_try_advisory_lock(${key}) as free`.execute(this.#session)
    if (rows[0]?.free !== true) return true
    await sql`select pg_advisory_unlock(${key})`.execute(this.#session)
    return false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end()
    await this.#ended
  }
}

function keyOf(stream: StreamName, partition: string) {
  return sql`hashtextextended(${`livehouse/${stream}/${partition}`}, 0)`
}

function waitKeyOf(stream: StreamName, partition: string) {
  return sql`hashtextextended(${`livehouse/waits/${stream}/${partition}`}, 0)`
}
