import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sql, type Transaction } from 'kysely'
import type { Migration } from 'kysely/migration'
import { hasCode, LivehouseError } from '../core/errors.ts'
import { moduleEnding, programFolder } from '../core/program-files.ts'
import type { Database, Db } from './database.ts'
import { lockName } from './lock-name.ts'
import { findEarliestVersion, MIGRATIONS, recordMigration, withMigrationLock } from './migration-lock.ts'

const MISSING_RIGHT = '42501'
type Migrations = Readonly<Record<string, Migration>>

export interface MigrateOptions {
  readonly signal?: AbortSignal
  /** By default, those of the folder `migrations`. */
  readonly migrations?: Migrations
}

/**
 * Applies all pending migrations or none, in one transaction. It holds a lock, which also works behind a pooler, so
 * that processes that start at the same time wait for each other.
 * @returns the names of the applied migrations, in order
 * @throws db.newer, db.refused (naming the missing right), db.unreachable, db.inUse (another livehouse is at work)
 */
export async function migrateUp(db: Db, options: MigrateOptions = {}): Promise<readonly string[]> {
  // Reads without the lock first, so that a user who may not change the schema can work in a migrated database.
  if ((await readPending(db, options)).length === 0) return []
  return changeSchema(db, options, async (transaction, migrations) => {
    // Another process may have migrated the database meanwhile.
    const pending = await readPending(transaction, { ...options, migrations })
    if (pending.length > 0) await requireNobodyAtWork(transaction, `The database lacks ${pending.join(', ')}`)
    for (const name of pending) {
      options.signal?.throwIfAborted()
      await migrations[name]?.up(transaction)
      // Raw: the script for a DBA has the same text.
      await sql.raw(recordMigration(name)).execute(transaction)
    }
    return pending
  })
}

/** Refuses while a livehouse is at work: it would go on writing by its own schema, such as rows with other keys. */
export async function requireNobodyAtWork(transaction: Db, state: string): Promise<void> {
  const earliest = await findEarliestVersion(transaction)
  if (earliest === undefined) await lockName(transaction, 'migration')
  const held = transaction.selectFrom('livehouse_ops.leases').select('name').where('expires_at', '>', sql<Date>`now()`)
  const lease = earliest ?? (await held.orderBy('name').executeTakeFirst())
  if (!lease?.name) return
  const other = `another livehouse is at work on it (${lease.name}) and would go on writing as before`
  const repair = 'Stop it, and try again; if it was killed, try again in 20 s'
  throw new LivehouseError('db.inUse', `${state}, but ${other}. ${repair}.`, {})
}

/** The names of the migrations that are not applied yet. @throws db.newer */
export async function readPending(db: Db, options: MigrateOptions = {}): Promise<readonly string[]> {
  return (await readMigrationStatus(db, options)).filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name)
}

/** Every migration of this version, in order. @throws db.newer if others have been applied */
export async function readMigrationStatus(db: Db, { signal, migrations }: MigrateOptions = {}) {
  const names = migrations ? Object.keys(migrations) : migrationNames
  const applied = await readApplied(db, signal)
  const unknown = [...applied.keys()].filter((name) => !names.includes(name))
  if (unknown.length > 0) {
    const problem = `The database has migrations that this livehouse does not know (${unknown.join(', ')})`
    const message = `${problem}: a newer version applied them. Update livehouse, or use another database.`
    throw new LivehouseError('db.newer', message, {})
  }
  // `appliedAt`: ISO instant; null while it is pending.
  return names.map((name) => ({ name, appliedAt: applied.get(name) ?? null }))
}

/** Requires that all migrations are applied. @throws db.pendingMigrations, db.newer */
export async function requireMigrated(db: Db, options: MigrateOptions = {}): Promise<void> {
  const pending = await readPending(db, options)
  if (pending.length === 0) return
  const repair = 'Run `livehouse migrate up`, or let a DBA run the output of `livehouse migrate sql`'
  const message = `The database lacks ${pending.join(', ')}: LIVEHOUSE_AUTO_MIGRATE is 0, or it was undone. ${repair}.`
  throw new LivehouseError('db.pendingMigrations', message, {})
}

async function readApplied(db: Db, signal: AbortSignal | undefined): Promise<ReadonlyMap<string, string>> {
  // Not to_regclass, which requires rights on the schema. The builder does not know the catalogs.
  const { rows: found } = await sql`
    select from pg_tables where schemaname = 'livehouse_ops' and tablename = 'migrations'`.execute(db, { signal })
  if (found.length === 0) return new Map()
  const rows = await db.selectFrom(MIGRATIONS).select(['name', 'timestamp']).execute({ signal })
  return new Map(rows.map(({ name, timestamp }) => [name, timestamp]))
}

/** Changes the schema under the lock of all such changes. @returns what `change` returns @throws as `migrateUp` */
export async function changeSchema(
  db: Db,
  { signal, migrations }: MigrateOptions,
  change: (transaction: Transaction<Database>, migrations: Migrations) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const provided = migrations ?? (await loadMigrations())
  try {
    return await withMigrationLock(db, signal, (transaction) => change(transaction, provided))
  } catch (error) {
    throw explainRefusal(error)
  }
}

function explainRefusal(error: unknown): unknown {
  if (!hasCode(error, 'db.refused')) return error
  const rights =
    error.details.sqlState === MISSING_RIGHT
      ? ' The user of DATABASE_URL needs CREATE on the database, or must own the schemas livehouse and livehouse_ops ' +
        'and their tables. Without these rights, give a DBA the output of `livehouse migrate sql`.'
      : ''
  const message = `The schema could not be migrated, and nothing was changed. ${error.message}${rights}`
  return new LivehouseError('db.refused', message, error.details, { cause: error })
}

const folder = join(programFolder, 'migrations')
const MIGRATION_FILE = /^(\d{4}-[a-z0-9-]+)\.(?:ts|mjs)$/

/** The names (`NNNN-name`) of all migrations, in order. Read once: an update may replace files that are in use. */
const migrationNames = readdirSync(folder)
  .flatMap((file) => MIGRATION_FILE.exec(file)?.[1] ?? [])
  .sort()

/** Loads all migrations of this version, by name and in order. Each exports `up` and `down`. */
export async function loadMigrations(): Promise<Record<string, Migration>> {
  const migrations: Record<string, Migration> = {}
  for (const name of migrationNames)
    migrations[name] = await import(pathToFileURL(join(folder, `${name}${moduleEnding}`)).href)
  return migrations
}
