import type { Kysely } from 'kysely'
import { type DatabaseSettings, readDatabaseSettings, readSettings } from '../config.ts'
import type { Database } from '../db/database.ts'
import { readMigrationStatus } from '../db/migrate.ts'
import type { CliContext } from './command.ts'
import { openConfiguredDatabase } from './open-configured-database.ts'

/** A database that a command only looks at. */
export interface DatabaseAsItIs extends AsyncDisposable {
  readonly db: Kysely<Database>
  /** Whether any migration has been applied; before that there is nothing to read. */
  readonly isMigrated: boolean
  /** Names of migrations that it has not had. */
  readonly pending: readonly string[]
}

/**
 * Opens the database of the settings without changing anything in it, and says what is pending.
 * @throws db.… codes, `db.newer` among them; config.invalid
 */
export async function openAsItIs(
  context: CliContext,
  settings: DatabaseSettings = readSettings(context.environment, readDatabaseSettings),
): Promise<DatabaseAsItIs> {
  const { signal, remark } = context
  const db = await openConfiguredDatabase(context, settings)
  try {
    const migrations = await readMigrationStatus(db, { signal })
    const pending = migrations.filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name)
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
