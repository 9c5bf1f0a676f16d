import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { Db } from './database.ts'
import { migrationTables } from './migration-lock.ts'

/** The server behind a connection, and what its user may do there. */
export type Rights = Awaited<ReturnType<typeof readRights>>

/** Asks the catalog; changes nothing. */
export async function readRights(db: Db) {
  // Catalogs and rights are unknown to the builder. Names are as SQL writes them.
  const server = await sql<{ version: string; user: string; database: string; isReadOnly: boolean }>`
    select current_setting('server_version') as version, quote_ident(current_user) as "user",
      quote_ident(current_database()) as database,
      pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as "isReadOnly"`.execute(db)
  const schemas = await sql<{ canCreate: boolean }>`
    select coalesce(has_schema_privilege(n.oid, 'create'), has_database_privilege(current_database(), 'create'))
      as "canCreate"
    from unnest(array['livehouse', 'livehouse_ops']) as wanted (name)
    left join pg_namespace n on n.nspname = wanted.name`.execute(db)
  const tables = await sql<{ name: string; isOwned: boolean; canRead: boolean; canWrite: boolean }>`
    select n.nspname || '.' || c.relname as name, pg_has_role(c.relowner, 'usage') as "isOwned",
      has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select') as "canRead",
      has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'update')
        and has_table_privilege(c.oid, 'delete') as "canWrite"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('livehouse', 'livehouse_ops', 'pgboss') and c.relkind in ('r', 'p')
    order by name`.execute(db)
  const [found] = server.rows
  assert(found !== undefined)
  return {
    ...found,
    /** May create the schemas and tables that are missing, and change those that are there. */
    canMigrate: schemas.rows.every(({ canCreate }) => canCreate) && tables.rows.every(({ isOwned }) => isOwned),
    /** Tables that are there and that this user may not read and write. */
    closedTables: tables.rows
      .filter(({ name, canRead, canWrite }) => !canRead || !(canWrite || writtenByMigrations.has(name)))
      .map(({ name }) => name),
  }
}

const writtenByMigrations: ReadonlySet<string> = new Set(migrationTables.map((table) => `livehouse_ops.${table}`))
