import assert from 'node:assert/strict'
import {
  type CompiledQuery,
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { Migration } from 'kysely/migration'
import { createMigrationTables, MIGRATION_SCHEMA, MIGRATION_TABLE, takeMigrationLock } from './migration-lock.ts'

/** What the user of DATABASE_URL needs when another one owns the tables. */
const grants = `
-- When another user than that of DATABASE_URL runs this, that user also needs (pgboss where it is here):
--   grant usage on schema livehouse, livehouse_ops, pgboss to USER;
--   grant select, insert, update, delete on all tables in schema livehouse, livehouse_ops, pgboss to USER;`

/**
 * The SQL of migrations as one script and transaction for a DBA, who runs it with psql as a user that may; afterwards
 * the database counts as migrated. Nothing is executed here.
 * @param migrations by name, in their order. They may only write: what they read would be missing.
 * @param views statements that follow them
 * @param queue statements after that transaction
 */
export async function migrationSql(
  migrations: Readonly<Record<string, Migration>>,
  views: readonly string[] = [],
  queue: readonly string[] = [],
): Promise<string> {
  const parts = ['begin', 'set local search_path to pg_catalog', ...createMigrationTables, takeMigrationLock]
  for (const [name, migration] of Object.entries(migrations)) {
    assert(/^[\w-]+$/.test(name), `a migration's name: ${name}`)
    const statements = await recordStatements((db) => migration.up(db))
    parts.push(`-- ${name}\n${statements[0] ?? 'select'}`, ...statements.slice(1))
    // The Migrator sorts by this text, so it has the form that Date.toISOString gives.
    const now = `to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
    parts.push(`insert into ${MIGRATION_SCHEMA}.${MIGRATION_TABLE} (name, timestamp) values ('${name}', ${now})`)
  }
  if (views.length > 0) parts.push(`-- the views of livehouse_bi, and who reads them\n${views[0]}`, ...views.slice(1))
  parts.push('commit')
  if (queue.length > 0) parts.push(`-- the queue of livehouse serve and livehouse worker\n${queue.join(';\n')}`)
  return `${parts.join(';\n')};\n${grants}`
}

async function recordStatements(write: (db: Kysely<unknown>) => Promise<void>): Promise<readonly string[]> {
  const statements: string[] = []
  const connection: DatabaseConnection = {
    executeQuery: async (query: CompiledQuery) => {
      assert(query.parameters.length === 0, `a migration's statement has no parameters: ${query.sql}`)
      statements.push(query.sql)
      return { rows: [] }
    },
    streamQuery: () => assert.fail('a migration only writes'),
  }
  const driver = new DummyDriver()
  driver.acquireConnection = () => Promise.resolve(connection)
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (inner) => new PostgresIntrospector(inner),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  await write(db)
  return statements
}
