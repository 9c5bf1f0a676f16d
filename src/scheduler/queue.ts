import { fromKysely, type PgBoss } from 'pg-boss'
import type { Db } from '../store/database.ts'

/** The queues: runs of jobs, partitions of runs, and runs that have begun too often without ending. */
export type QueueName = 'runs' | 'partitions' | 'given-up'

/** A job to queue; ignored if a job with this id has been queued before. */
export interface QueuedJob {
  readonly id: string
  /** Only one partition with the same key is worked on at a time. For runs, the lease of their job sees to that. */
  readonly key: string
  readonly priority: number
  readonly data: object
}

/** An attempt of this process at a queued job. */
export interface Attempt {
  readonly id: string
  /** The data of the queued job, parsed from JSON. */
  readonly data: unknown
  /** 0 for the first one. */
  readonly number: number
  readonly isLast: boolean
}

export interface EndedJob {
  readonly id: string
  readonly state: 'completed' | 'cancelled' | 'failed'
  /** The argument of `complete` or `fail`. */
  readonly output: unknown
}

/** The schema of pg-boss. */
export const SCHEMA = 'pgboss'

/** The queue that the processes of a warehouse share: pg-boss, in the schema `pgboss`. Use it with `await using`. */
export class Queue implements AsyncDisposable {
  readonly #boss: PgBoss
  readonly #db: Db
  readonly #listeners = new Map<QueueName, () => void>()
  #ended = Promise.withResolvers<void>()

  /** Use `openQueue`. */
  constructor(boss: PgBoss, db: Db) {
    this.#boss = boss
    this.#db = db
  }

  /** Queues jobs; ignores those that have been queued before. @throws db.… codes, like all methods */
  async send(name: QueueName, jobs: readonly QueuedJob[]): Promise<void> {
    const batchSize = 500
    for (let at = 0; at < jobs.length; at += batchSize) {
      const batch = jobs.slice(at, at + batchSize).map(({ key, ...job }) => ({ ...job, singletonKey: key }))
      await this.#boss.insert(name, batch)
    }
    this.#listeners.get(name)?.()
  }

  /** Calls `listener` when this process, not another one, has queued jobs. */
  onSent(name: QueueName, listener: () => void): void {
    this.#listeners.set(name, listener)
  }

  /** Resolves when this process, not another one, has ended a job. */
  nextEnd(): Promise<void> {
    return this.#ended.promise
  }

  /** Takes up to `most` waiting jobs, by priority and then by age. */
  async take(name: QueueName, most: number): Promise<readonly Attempt[]> {
    const taken = await this.#boss.fetch(name, { batchSize: most, includeMetadata: true })
    return taken.map(({ id, data, retryCount, retryLimit }) => {
      return { id, data, number: retryCount, isLast: retryCount >= retryLimit }
    })
  }

  /** Renews heartbeats. @returns the attempts that have neither been cancelled nor given to another worker */
  async renew(name: QueueName, attempts: readonly Attempt[]): Promise<ReadonlySet<Attempt>> {
    if (attempts.length === 0) return new Set()
    const { rows } = await this.#boss.getDb().executeSql(
      `select id, retry_count as number from ${SCHEMA}.job
       where name = $1 and id = any($2::uuid[]) and state = 'active'`,
      [name, attempts.map(({ id }) => id)],
    )
    const numbers = new Map(rows.map(({ id, number }) => [String(id), Number(number)]))
    const current = attempts.filter(({ id, number }) => numbers.get(id) === number)
    const ids = current.map(({ id }) => id)
    if (ids.length > 0) await this.#boss.touch(name, ids)
    return new Set(current)
  }

  async complete(name: QueueName, { id }: Attempt, output: object): Promise<void> {
    await this.#boss.complete(name, id, output)
    this.#notifyEnded()
  }

  /** Fails a job; another attempt follows later, unless this was the last. */
  async fail(name: QueueName, { id }: Attempt, message: string): Promise<void> {
    await this.#boss.fail(name, id, { message })
    this.#notifyEnded()
  }

  /** Returns a job to the queue, for an attempt at once. One transaction, so that nobody sees the job as cancelled. */
  async giveBack(name: QueueName, { id }: Pick<Attempt, 'id'>): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      const options = { db: fromKysely(trx) }
      await this.#boss.cancel(name, id, options)
      await this.#boss.resume(name, id, options)
    })
  }

  /** Cancels jobs. Workers learn from `renew` that a job under way is cancelled. */
  async cancel(name: QueueName, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#boss.cancel(name, [...ids])
  }

  /** Which of these jobs have ended. A job that is no longer in the table ended long ago, and counts as failed. */
  async readEnded(name: QueueName, ids: readonly string[]): Promise<readonly EndedJob[]> {
    const { rows } = await this.#boss.getDb().executeSql(
      `select asked.id, coalesce(job.state::text, 'failed') as state,
         case when job.id is null then '{"message": "its job is gone"}' else job.output end as output
       from unnest($2::uuid[]) as asked (id) left join ${SCHEMA}.job on job.name = $1 and job.id = asked.id
       where job.id is null or job.state in ('completed', 'cancelled', 'failed')`,
      [name, ids],
    )
    return rows.map(({ id, state, output }): EndedJob => ({ id, state, output }))
  }

  #notifyEnded(): void {
    this.#ended.resolve()
    this.#ended = Promise.withResolvers()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false }).catch(() => {})
    await this.#db.destroy()
  }
}
