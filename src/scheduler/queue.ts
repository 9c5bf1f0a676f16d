import { fromKysely, getConstructionPlans, getMigrationPlans, PgBoss } from 'pg-boss'
import type { Kysely } from 'kysely'
import type { AppContext } from '../app/context.ts'
import { embeddedUrl } from '../app/open-database.ts'
import type { DatabaseSettings } from '../app/settings.ts'
import { LivehouseError } from '../core/errors.ts'
import type { Database } from '../store/database.ts'
import { openDatabase } from '../store/pool.ts'

/** What is queued: runs of jobs, partitions of runs, and runs that were begun too often without an end. */
export type QueueName = 'runs' | 'partitions' | 'given-up'

/** A job of a queue; it is sent once, whoever sends it. */
export interface QueuedJob {
  /** UUID. */
  readonly id: string
  /** Of partitions with the same key one is at work at a time; a run holds its job's lease. */
  readonly key: string
  /** Higher ones go first. */
  readonly priority: number
  readonly data: object
}

/** A job that this process works on. */
export interface Attempt {
  readonly id: string
  /** As it was sent, in JSON. */
  readonly data: unknown
  /** 0 for the first one. */
  readonly number: number
  /** Whether no other follows when it fails. */
  readonly isLast: boolean
}

export interface EndedJob {
  readonly id: string
  readonly state: 'completed' | 'cancelled' | 'failed'
  /** What `complete` or `fail` was given last. */
  readonly output: unknown
}

/** A job whose worker has not been heard of for so long is given to another. */
const HEARTBEAT_SECONDS = 10
/** The most that pg-boss allows. */
const LONGEST_SECONDS = 86_400
/**
 * Supervision finds lost workers, each time where less lies between two of its rounds for a queue; the cache holds which keys are at
 * work, so that others are taken before them.
 */
const INTERVALS = { superviseIntervalSeconds: 5, monitorIntervalSeconds: 4, queueCacheIntervalSeconds: 5 }
/** The queue is one small statement at a time; supervision and heartbeats should not wait for each other. */
const CONNECTIONS = 3
const SCHEMA = 'pgboss'
/** The version of this schema that the installed pg-boss works with. */
const SCHEMA_VERSION = 40

const common = { heartbeatSeconds: HEARTBEAT_SECONDS, expireInSeconds: LONGEST_SECONDS }
const queues = {
  'given-up': { deleteAfterSeconds: 86_400 },
  // Doubled after each attempt, from 10 s to 43 minutes, over an hour in all: a full disk is not emptied at once.
  runs: { ...common, retryLimit: 9, retryDelay: 10, retryBackoff: true, deadLetter: 'given-up' },
  partitions: {
    ...common,
    policy: 'singleton',
    retryLimit: 10,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60,
    // Its run has long taken what came of it.
    deleteAfterSeconds: 3600,
  },
} as const satisfies Record<QueueName, object>

/** The queue that the processes of a warehouse share: pg-boss, in the schema `pgboss`. Use it with `await using`. */
export class Queue implements AsyncDisposable {
  readonly #boss: PgBoss
  readonly #db: Kysely<Database>
  readonly #listeners = new Map<QueueName, () => void>()
  #ended = Promise.withResolvers<void>()

  /** Use `openQueue`. */
  constructor(boss: PgBoss, db: Kysely<Database>) {
    this.#boss = boss
    this.#db = db
  }

  /** Jobs that have been sent before are left alone. @throws db.… codes, as all of these */
  async send(name: QueueName, jobs: readonly QueuedJob[]): Promise<void> {
    const batchSize = 500
    for (let at = 0; at < jobs.length; at += batchSize) {
      const batch = jobs.slice(at, at + batchSize)
      await this.#boss.insert(
        name,
        batch.map(({ key, ...job }) => ({ ...job, singletonKey: key })),
      )
    }
    this.lookAgain(name)
  }

  /** Who works on the queue in this process hears of it when there may be something new; of other processes' jobs it does not. */
  onNews(name: QueueName, listener: () => void): void {
    this.#listeners.set(name, listener)
  }

  /** Makes this process look for jobs of a queue now. */
  lookAgain(name: QueueName): void {
    this.#listeners.get(name)?.()
  }

  /** Resolves when a job that this process works on has ended; of other processes' jobs it does not. */
  nextEnd(): Promise<void> {
    return this.#ended.promise
  }

  /** Takes up to so many jobs that wait, by their priority and then the oldest. */
  async take(name: QueueName, most: number): Promise<readonly Attempt[]> {
    const taken = await this.#boss.fetch(name, { batchSize: most, includeMetadata: true })
    return taken.map(({ id, data, retryCount, retryLimit }) => {
      return { id, data, number: retryCount, isLast: retryCount >= retryLimit }
    })
  }

  /** Says that this process is still at work. @returns the attempts that have neither been cancelled nor given to another */
  async renew(name: QueueName, attempts: readonly Attempt[]): Promise<ReadonlySet<Attempt>> {
    if (attempts.length === 0) return new Set()
    const { rows } = await this.#boss.getDb().executeSql(
      `select id, retry_count as number from ${SCHEMA}.job
       where name = $1 and id = any($2::uuid[]) and state = 'active'`,
      [name, attempts.map(({ id }) => id)],
    )
    const numbers = new Map(rows.map(({ id, number }) => [String(id), Number(number)]))
    const ours = new Set(attempts.filter(({ id, number }) => numbers.get(id) === number))
    if (ours.size > 0)
      await this.#boss.touch(
        name,
        [...ours].map(({ id }) => id),
      )
    return ours
  }

  async complete(name: QueueName, { id }: Attempt, output: object): Promise<void> {
    await this.#boss.complete(name, id, output)
    this.#sayEnded()
  }

  /** Another attempt follows later, unless this was the last. */
  async fail(name: QueueName, { id }: Attempt, message: string): Promise<void> {
    await this.#boss.fail(name, id, { message })
    this.#sayEnded()
  }

  /** Another attempt may follow at once: this one was only stopped. In between, nobody sees it as cancelled. */
  async giveBack(name: QueueName, { id }: Attempt): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      const options = { db: fromKysely(trx) }
      await this.#boss.cancel(name, id, options)
      await this.#boss.resume(name, id, options)
    })
  }

  /** Nobody begins them, and their workers hear of it from `renew`. */
  async cancel(name: QueueName, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#boss.cancel(name, [...ids])
  }

  /** Those of some jobs that have come to their end. */
  async readEnded(name: QueueName, ids: readonly string[]): Promise<readonly EndedJob[]> {
    const { rows } = await this.#boss.getDb().executeSql(
      `select id, state, output from ${SCHEMA}.job
       where name = $1 and id = any($2::uuid[]) and state in ('completed', 'cancelled', 'failed')`,
      [name, ids],
    )
    return rows.map(({ id, state, output }): EndedJob => ({ id, state, output }))
  }

  #sayEnded(): void {
    this.#ended.resolve()
    this.#ended = Promise.withResolvers()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false }).catch(() => {})
    await this.#db.destroy()
  }
}

/**
 * Opens the queue, and makes its schema where that is allowed.
 * @throws db.pendingMigrations where it is not there, or of an older version, and may not be made; other db.… codes
 */
export async function openQueue(context: AppContext, settings: DatabaseSettings): Promise<Queue> {
  const { log, signal } = context
  const { target, dataDir, queueUrl, isAutoMigrated } = settings
  const ofWarehouse = async () => (target.kind === 'url' ? target.url : await embeddedUrl(context, dataDir))
  const setting = queueUrl === undefined ? 'DATABASE_URL' : 'LIVEHOUSE_QUEUE_URL'
  const db = await openDatabase(queueUrl ?? (await ofWarehouse()), { signal, maxConnections: CONNECTIONS, setting })
  const boss = new PgBoss({
    db: executorOf(db),
    schema: SCHEMA,
    schedule: false,
    migrate: isAutoMigrated,
    ...INTERVALS,
  })
  boss.on('error', ({ message }) => log.debug('queue.failed', { reason: message }))
  boss.on('warning', ({ message }) => log.warn('queue.warning', { reason: message }))
  const queue = new Queue(boss, db)
  try {
    if (!isAutoMigrated && (await readVersion(boss)) < SCHEMA_VERSION) throw notUpToDate()
    await boss.start()
    for (const [name, options] of Object.entries(queues)) await boss.createQueue(name, options)
    return queue
  } catch (error) {
    await queue[Symbol.asyncDispose]()
    throw error
  }
}

/**
 * What creates the queue's schema or upgrades an older version of it, for a DBA: statements outside of any transaction.
 * None where there is nothing to do.
 */
export async function planQueue(db: Kysely<Database>): Promise<readonly string[]> {
  const version = await readVersion(new PgBoss({ db: executorOf(db), schema: SCHEMA }))
  if (version >= SCHEMA_VERSION) return []
  const plans = version === 0 ? getConstructionPlans(SCHEMA) : getMigrationPlans(SCHEMA, version)
  return [plans.trim()]
}

/** The version of the queue's schema; 0 where it is not there. */
async function readVersion(boss: PgBoss): Promise<number> {
  return (await boss.isInstalled()) ? ((await boss.schemaVersion()) ?? 0) : 0
}

/** Runs the statements of pg-boss, which may be several in a transaction of their own, on one connection. */
function executorOf(db: Kysely<Database>): ReturnType<typeof fromKysely> {
  return {
    executeSql: async (text, values) =>
      await db.connection().execute(async (connection) => {
        const inner = fromKysely(connection)
        try {
          return await inner.executeSql(text, values)
        } catch (error) {
          // What came after the error was not executed, its commit included.
          await inner.executeSql('rollback').catch(() => {})
          throw error
        }
      }),
  }
}

function notUpToDate(): LivehouseError<'db.pendingMigrations'> {
  const message =
    `The queue's schema ${SCHEMA} is not there yet or of an older version, and LIVEHOUSE_AUTO_MIGRATE is 0. ` +
    'Run `livehouse migrate up` as a user that may create schemas in the database of LIVEHOUSE_QUEUE_URL and owns ' +
    'this one; without that setting, a DBA may run `livehouse migrate sql`.'
  return new LivehouseError('db.pendingMigrations', message, { pending: [SCHEMA] })
}
