import { LivehouseError } from '../core/errors.ts'
import { mayShareToken } from '../ledger/shared-token-store.ts'
import { checkSource } from '../ledger/source.ts'
import { createDatabaseIfMissing } from '../store/create-database.ts'
import type { Db } from '../store/database.ts'
import { isEmbeddedRunning, restartEmbedded, startEmbedded } from '../store/embedded.ts'
import { readMigrationStatus } from '../store/migrate.ts'
import { describeTarget } from '../store/translate-error.ts'
import type { AppContext } from './context.ts'
import type { DatabaseSettings, ServiceSettings } from './settings.ts'

/** Shown on a terminal while a database is opened; the embedded one may have to be created first. */
export const OPENING = 'opening database'

/**
 * Returns the URL of the configured database, and names that database on standard error. Starts an embedded one.
 * @throws db.embedded
 */
export async function configuredUrl(context: AppContext, settings: DatabaseSettings): Promise<string> {
  const { target, dataDir } = settings
  const url = target.kind === 'url' ? target.url : await embeddedUrl(context, dataDir)
  const { from = target.kind === 'url' ? 'DATABASE_URL' : `the embedded PostgreSQL in ${dataDir}` } = settings
  context.remark(`database: ${describeTarget(url)} (${from})`)
  return url
}

/**
 * Opens the configured database, and names it on standard error. Applies no migrations.
 * @throws db.embedded, db.unreachable, db.refused, db.tooOld
 */
export async function openConfiguredDatabase(
  context: AppContext,
  settings: DatabaseSettings,
  maxConnections?: number,
): Promise<Db> {
  const url = await configuredUrl(context, settings)
  return await context.openDatabase(url, { signal: context.signal, ...(maxConnections && { maxConnections }) })
}

/** The database that `DATABASE_URL=embedded` means. */
export const EMBEDDED_DATABASE = 'livehouse'

/**
 * Returns the URL, with the password, of a database in the embedded PostgreSQL. Creates and starts what is missing.
 * @throws db.embedded
 */
export async function embeddedUrl(
  { clock, signal, addSecret, openProgress }: Pick<AppContext, 'clock' | 'signal' | 'addSecret' | 'openProgress'>,
  dataDir: string,
  database: string = EMBEDDED_DATABASE,
): Promise<string> {
  using _waiting = await openProgress(OPENING)
  const server = await startEmbedded(dataDir, clock, signal)
  addSecret(decodeURIComponent(new URL(server.url(database)).password))
  await createDatabaseIfMissing(server.url('postgres'), database, signal)
  return server.url(database)
}

/** Restarts the embedded PostgreSQL if it has crashed. @throws db.embedded */
export async function restartDatabase(
  { clock, signal }: Pick<AppContext, 'clock' | 'signal'>,
  { target, dataDir }: DatabaseSettings,
): Promise<void> {
  if (target.kind === 'embedded') await restartEmbedded(dataDir, clock, signal)
}

/**
 * Opens the configured database without changing anything in it, and names pending migrations. Before the first
 * migration there is nothing to read: `db` is undefined then, and nothing pending.
 * @throws db.… codes, `db.newer` among them
 */
export async function openAsItIs(context: AppContext, settings: DatabaseSettings) {
  const { signal, remark } = context
  await using resources = new AsyncDisposableStack()
  const db = resources.use(await openConfiguredDatabase(context, settings))
  const migrations = await readMigrationStatus(db, { signal })
  const missing = migrations.filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name)
  const hasSchema = missing.length < migrations.length
  const pending = hasSchema ? missing : []
  if (pending.length > 0) {
    const next = settings.isAutoMigrated ? 'the next sync applies them' : 'livehouse migrate up applies them'
    remark(`pending migrations: ${pending.join(', ')}; ${next}`)
  }
  resources.move()
  return { db: hasSchema ? db : undefined, pending, [Symbol.asyncDispose]: async () => await db.destroy() }
}

/** The same, but refuses an outdated schema; a database without a schema is fine. @throws db.pendingMigrations */
export async function openUpToDate(context: AppContext, settings: DatabaseSettings) {
  const opened = await openAsItIs(context, settings)
  if (opened.pending.length === 0) return opened
  await opened[Symbol.asyncDispose]()
  const message = `The database lacks ${opened.pending.join(', ')}. Run \`livehouse migrate up\` first.`
  throw new LivehouseError('db.pendingMigrations', message, {})
}

/**
 * Opens the warehouse for a verb that uses it only to share the access token with other processes. Returns undefined
 * if migrations or rights are missing and, with a remark, if it is unreachable or holds another source.
 * @param settings undefined if no database is configured
 */
export async function openSharedDatabase(
  context: AppContext,
  service: ServiceSettings,
  settings: DatabaseSettings | undefined,
): Promise<Db | undefined> {
  if (settings === undefined) return undefined
  await using resources = new AsyncDisposableStack()
  try {
    // If the server is not running, no other process uses it.
    if (settings.target.kind === 'embedded' && !(await isEmbeddedRunning(settings.dataDir))) return undefined
    const { db, pending } = resources.use(await openAsItIs(context, settings))
    if (db === undefined || pending.length > 0 || !(await mayShareToken(db))) return undefined
    await checkSource(db, service)
    resources.move()
    return db
  } catch (error) {
    context.signal.throwIfAborted()
    if (!(error instanceof LivehouseError)) throw error
    context.remark(`the token is not shared with other processes: ${error.message}`)
    return undefined
  }
}
