import { fromKysely, getConstructionPlans, getMigrationPlans, PgBoss } from 'pg-boss'
import type { AppContext } from '../app/context.ts'
import { embeddedUrl } from '../app/open-database.ts'
import type { DatabaseSettings } from '../app/settings.ts'
import { LivehouseError } from '../core/errors.ts'
import type { Db } from '../store/database.ts'
import { openDatabase } from '../store/pool.ts'
import { Queue, type QueueName, SCHEMA } from './queue.ts'

/** A job goes to another worker after this long without a heartbeat. */
const HEARTBEAT_SECONDS = 10
/** The longest time that pg-boss allows for a job. */
const MAX_SECONDS = 86_400
/**
 * Supervision finds lost workers; it does so in every round only if the monitoring interval is shorter. The queue cache
 * holds the keys that are being worked on, so that jobs with other keys are taken first.
 */
const INTERVALS = { superviseIntervalSeconds: 5, monitorIntervalSeconds: 4, queueCacheIntervalSeconds: 5 }
/** The queue sends one small statement at a time, but supervision and heartbeats should not wait for each other. */
const CONNECTIONS = 3
/**
 * Any login of the database could compute the keys of these advisory locks and hold them. Without them, as with
 * YugabyteDB, pg-boss uses only statements that may run concurrently.
 */
const WITHOUT_ADVISORY_LOCKS = { __test__noAdvisoryLocks: true }
/** The advisory lock in the SQL that pg-boss prints, which that option does not remove. */
const ADVISORY_LOCK = /^ *SELECT \w+_advisory_xact_lock\(.*\);\n/gm
/** The schema version of the installed pg-boss. */
const SCHEMA_VERSION = 40

const common = { heartbeatSeconds: HEARTBEAT_SECONDS, expireInSeconds: MAX_SECONDS }
const queues = {
  'given-up': { deleteAfterSeconds: 86_400 },
  // The delay doubles from 10 s to 43 minutes, over an hour in all: making room on a full disk takes time.
  runs: { ...common, retryLimit: 9, retryDelay: 10, retryBackoff: true, deadLetter: 'given-up' },
  partitions: {
    ...common,
    policy: 'singleton',
    retryLimit: 10,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60,
    // By then, the run has read the result.
    deleteAfterSeconds: 3600,
  },
} as const satisfies Record<QueueName, object>

/**
 * Opens the queue, and creates or upgrades its schema if that is allowed. `supervise`: whether this process looks for
 * lost workers; a process that only works on jobs need not.
 * @throws db.pendingMigrations if the schema is missing or outdated and may not be changed; other db.… codes
 */
export async function openQueue(context: AppContext, settings: DatabaseSettings, supervise = true): Promise<Queue> {
  const { log, signal } = context
  const { target, dataDir, queueUrl, isAutoMigrated } = settings
  const ofWarehouse = async () => (target.kind === 'url' ? target.url : await embeddedUrl(context, dataDir))
  const setting = queueUrl === undefined ? 'DATABASE_URL' : 'LIVEHOUSE_QUEUE_URL'
  const db = await openDatabase(queueUrl ?? (await ofWarehouse()), { signal, maxConnections: CONNECTIONS, setting })
  const fixed = { schema: SCHEMA, schedule: false, supervise, ...INTERVALS, ...WITHOUT_ADVISORY_LOCKS }
  const boss = new PgBoss({ db: executorOf(db), migrate: isAutoMigrated, ...fixed })
  boss.on('error', ({ message }) => log.debug('queue.failed', { reason: message }))
  boss.on('warning', ({ message }) => log.warn('queue.warning', { reason: message }))
  await using resources = new AsyncDisposableStack()
  const queue = resources.use(new Queue(boss, db))
  if (!isAutoMigrated && (await readVersion(boss)) < SCHEMA_VERSION) throw createSchemaError()
  const start = async (triesLeft: number): Promise<unknown> =>
    await boss.start().catch(async (error: unknown) => {
      // Another process may be creating the schema at the same time.
      if (triesLeft === 0) throw error
      return await start(triesLeft - 1)
    })
  await start(3)
  for (const [name, options] of Object.entries(queues)) await boss.createQueue(name, options)
  resources.move()
  return queue
}

/**
 * The statements that create or upgrade the queue's schema, for a DBA to run outside of a transaction; none if it is up
 * to date.
 */
export async function planQueue(db: Db): Promise<readonly string[]> {
  const version = await readVersion(new PgBoss({ db: executorOf(db), schema: SCHEMA }))
  if (version >= SCHEMA_VERSION) return []
  const plans = version === 0 ? getConstructionPlans(SCHEMA) : getMigrationPlans(SCHEMA, version)
  return [plans.replace(ADVISORY_LOCK, '').trim()]
}

/** The version of the queue's schema; 0 if it does not exist. */
async function readVersion(boss: PgBoss): Promise<number> {
  return (await boss.isInstalled()) ? ((await boss.schemaVersion()) ?? 0) : 0
}

/** Runs SQL of pg-boss on one connection, as it may contain a whole transaction. */
function executorOf(db: Db): ReturnType<typeof fromKysely> {
  return {
    executeSql: async (text, values) =>
      await db.connection().execute(async (connection) => {
        const inner = fromKysely(connection)
        return await inner.executeSql(text, values).catch(async (error: unknown) => {
          // The error has skipped the remaining statements, including the commit.
          await inner.executeSql('rollback').catch(() => {})
          throw error
        })
      }),
  }
}

function createSchemaError(): LivehouseError<'db.pendingMigrations'> {
  const message =
    `The queue's schema ${SCHEMA} is missing or outdated, and LIVEHOUSE_AUTO_MIGRATE is 0. Run ` +
    '`livehouse migrate up` as a user that owns this schema, or may create it, in the database of ' +
    'LIVEHOUSE_QUEUE_URL; without that setting, a DBA can run the output of `livehouse migrate sql`.'
  return new LivehouseError('db.pendingMigrations', message, {})
}
