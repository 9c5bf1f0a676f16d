import assert from 'node:assert/strict'
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { Migration } from 'kysely/migration'
import { createMigrationTables, recordMigration, takeMigrationLock } from './migration-lock.ts'

const grants = `
-- When another user than that of DATABASE_URL runs this, that user also needs (pgboss where it is here):
--   grant usage on schema livehouse, livehouse_ops, pgboss to USER;
--   grant select, insert, update, delete on all tables in schema livehouse, livehouse_ops, pgboss to USER;`

/**
 * The SQL of migrations as a script of one transaction, which a DBA runs with psql; afterwards the database counts as
 * migrated. Executes nothing.
 * @param migrations by name, in order. They may only write, as a query would return no rows.
 * @param views statements that follow in the transaction
 * @param queue statements after the transaction
 */
export async function migrationSql(
  migrations: Readonly<Record<string, Migration>>,
  views: readonly string[] = [],
  queue: readonly string[] = [],
): Promise<string> {
  const parts = ['begin', ...(await schemaStatements(migrations))]
  if (views.length > 0) parts.push(`-- the views of livehouse_bi, and who reads them\n${views[0]}`, ...views.slice(1))
  parts.push('commit')
  if (queue.length > 0) parts.push(`-- the queue of livehouse serve and livehouse worker\n${queue.join(';\n')}`)
  return `${parts.join(';\n')};\n${grants}`
}

/** The statements that these migrations execute. Run them in one transaction. */
export async function schemaStatements(migrations: Readonly<Record<string, Migration>>): Promise<readonly string[]> {
  const parts = ['set local search_path to pg_catalog', ...createMigrationTables, takeMigrationLock]
  for (const [name, migration] of Object.entries(migrations)) {
    assert(/^[\w-]+$/.test(name), `a migration's name: ${name}`)
    const statements = await recordStatements((db) => migration.up(db))
    parts.push(`-- ${name}\n${statements[0] ?? 'select'}`, ...statements.slice(1), recordMigration(name))
  }
  return parts
}

async function recordStatements(write: (db: Kysely<unknown>) => Promise<void>): Promise<readonly string[]> {
  const statements: string[] = []
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (inner) => new PostgresIntrospector(inner),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => {
      assert(query.parameters.length === 0, `a migration's statement has no parameters: ${query.sql}`)
      statements.push(query.sql)
    },
  })
  await write(db)
  return statements
}
