import type { DatabaseSettings, ServiceSettings } from './settings.ts'
import type { AppContext } from './context.ts'
import { LivehouseError } from '../core/errors.ts'
import { createDatabaseIfMissing } from '../store/create-database.ts'
import { describeTarget } from '../store/translate-error.ts'
import type { Db } from '../store/database.ts'
import { isEmbeddedRunning, restartEmbedded, startEmbedded } from '../store/embedded.ts'
import { readMigrationStatus } from '../store/migrate.ts'
import { mayShareToken } from '../ledger/shared-token-store.ts'
import { checkSource } from '../ledger/source.ts'

/** Shown on a terminal while a database is opened: the embedded one may have to be made first. */
export const OPENING = 'opening database'

/**
 * The URL of the database of the settings, which is named on standard error; if embedded, it is started.
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
 * Opens the database of the settings as it is, and says on standard error which one it is.
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

/** The database that the embedded PostgreSQL keeps for `DATABASE_URL=embedded`. */
export const EMBEDDED_DATABASE = 'livehouse'

/**
 * The URL of a database in the embedded PostgreSQL, both made where need be. It holds the password.
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

/** Starts the embedded database again where it has crashed. @throws db.embedded */
export async function restartDatabase(
  { clock, signal }: Pick<AppContext, 'clock' | 'signal'>,
  { target, dataDir }: DatabaseSettings,
): Promise<void> {
  if (target.kind === 'embedded') await restartEmbedded(dataDir, clock, signal)
}

/**
 * Opens the database of the settings without changing anything in it, and says what is pending.
 * @throws db.… codes, `db.newer` among them
 */
export async function openAsItIs(context: AppContext, settings: DatabaseSettings) {
  const { signal, remark } = context
  const db = await openConfiguredDatabase(context, settings)
  try {
    const migrations = await readMigrationStatus(db, { signal })
    const pending = migrations.filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name)
    // Before the first migration there is nothing to read.
    const isMigrated = pending.length < migrations.length
    if (isMigrated && pending.length > 0) {
      const next = settings.isAutoMigrated ? 'the next sync applies them' : 'livehouse migrate up applies them'
      remark(`pending migrations: ${pending.join(', ')}; ${next}`)
    }
    return { db, isMigrated, pending, [Symbol.asyncDispose]: async () => await db.destroy() }
  } catch (error) {
    await db.destroy()
    throw error
  }
}

/** Refuses an outdated schema, for verbs that also work without any. @throws db.pendingMigrations */
export function refusePending({ isMigrated, pending }: Awaited<ReturnType<typeof openAsItIs>>): void {
  if (!isMigrated || pending.length === 0) return
  const message = `The database lacks ${pending.join(', ')}. Run \`livehouse migrate up\` first.`
  throw new LivehouseError('db.pendingMigrations', message, {})
}

/**
 * The warehouse for a verb that needs it only to share the token with other processes of the account. It is not used
 * where it lacks a migration or the right to write, nor, with a remark, where it is out of reach or of another source.
 * @param settings undefined where none is set
 */
export async function openSharedDatabase(
  context: AppContext,
  service: ServiceSettings,
  settings: DatabaseSettings | undefined,
): Promise<Db | undefined> {
  if (settings === undefined) return undefined
  // No other process uses a server that does not run.
  if (settings.target.kind === 'embedded' && !(await isEmbeddedRunning(settings.dataDir))) return undefined
  await using opened = new AsyncDisposableStack()
  try {
    const { db, pending } = opened.use(await openAsItIs(context, settings))
    if (pending.length > 0 || !(await mayShareToken(db))) return undefined
    await checkSource(db, service)
    opened.move()
    return db
  } catch (error) {
    context.signal.throwIfAborted()
    if (!(error instanceof LivehouseError)) throw error
    context.remark(`the token is not shared with other processes: ${error.message}`)
    return undefined
  }
}
