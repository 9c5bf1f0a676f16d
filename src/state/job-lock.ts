import { type Kysely, sql } from 'kysely'
import { LivehouseError } from '../core/errors.ts'
import type { Database } from '../db/database.ts'
import { isConnectionLoss } from '../db/is-connection-loss.ts'
import { type LockSession, openLockSession } from './lock-session.ts'

/**
 * One runner a job, over all processes: an advisory lock of a session of its own, which ends with it, also when the process is
 * killed. Use it with `await using`.
 */
export class JobLock implements AsyncDisposable {
  readonly #db: Kysely<Database>
  readonly #job: string
  #session: LockSession

  private constructor(db: Kysely<Database>, job: string, session: LockSession) {
    this.#db = db
    this.#job = job
    this.#session = session
  }

  /** Does not wait. @returns undefined while another has it @throws db.unreachable */
  static async tryTake(db: Kysely<Database>, job: string): Promise<JobLock | undefined> {
    const session = await tryLock(db, job)
    return session && new JobLock(db, job, session)
  }

  /**
   * Makes sure that it is still ours; where its session is lost, it is taken again in another. It may have been another's in
   * between: `isStillOurs` tells whether what it guards is as we left it.
   * @throws db.refused when somebody else has it by then, db.unreachable
   */
  async keep(isStillOurs: () => Promise<boolean>): Promise<void> {
    try {
      await sql`select 1`.execute(this.#session.connection)
    } catch (error) {
      if (!isConnectionLoss(error)) throw error
      await this.#session.close()
      const session = await tryLock(this.#db, this.#job)
      if (session === undefined) throw takenByAnother(this.#job)
      this.#session = session
      if (!(await isStillOurs())) throw takenByAnother(this.#job)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session.close()
  }
}

async function tryLock(db: Kysely<Database>, job: string): Promise<LockSession | undefined> {
  const session = await openLockSession(db)
  try {
    const { rows } = await sql<{ isTaken: boolean }>`
      select pg_try_advisory_lock(hashtextextended(${keyOf(job)}, 0)) as "isTaken"`.execute(session.connection)
    if (rows[0]?.isTaken === true) return session
  } catch (error) {
    await session.close()
    throw error
  }
  await session.close()
  return undefined
}

/** Those of some jobs that a living process is at work on. */
export async function readHeldJobs(db: Kysely<Database>, jobs: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ job: string }>`
    select job from unnest(${jobs}::text[], ${jobs.map(keyOf)}::text[]) as asked (job, key)
    where hashtextextended(key, 0) in (
      select (classid::bigint << 32) | objid::bigint from pg_locks
      where locktype = 'advisory' and granted and objsubid = 1
        and database = (select oid from pg_database where datname = current_database()))`.execute(db)
  return new Set(rows.map(({ job }) => job))
}

function keyOf(job: string): string {
  return `livehouse/jobs/${job}`
}

/** 55P03 is the SQLSTATE of a lock that is not to be had. */
function takenByAnother(job: string): LivehouseError<'db.refused'> {
  const reason = `the connection that held the lock of the job ${job} was lost, and another process has taken it since`
  return new LivehouseError('db.refused', `Database: ${reason}. This run of it ends.`, { reason, sqlState: '55P03' })
}
