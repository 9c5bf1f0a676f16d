import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { Db } from './database.ts'
import { migrationTables } from './migration-lock.ts'

/** The server behind a connection, and the rights of its user. */
export type Rights = Awaited<ReturnType<typeof readRights>>

/** Reads the server's version, and from the catalog the user's rights on these schemas and on the queue's. */
export async function readRights(db: Db, wanted: readonly string[] = ['livehouse', 'livehouse_ops']) {
  // The builder knows neither catalogs nor privileges. Names are quoted as in SQL.
  const server = await sql<{ version: string; user: string; database: string; isReadOnly: boolean }>`
    select current_setting('server_version') as version, quote_ident(current_user) as "user",
      quote_ident(current_database()) as database,
      pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as "isReadOnly"`.execute(db)
  const schemas = await sql<{ canCreate: boolean }>`
    select coalesce(has_schema_privilege(n.oid, 'create'), has_database_privilege(current_database(), 'create'))
      as "canCreate"
    from unnest(${wanted}::text[]) as wanted (name)
    left join pg_namespace n on n.nspname = wanted.name`.execute(db)
  const tables = await sql<{ name: string; isOwned: boolean; canRead: boolean; canWrite: boolean }>`
    select n.nspname || '.' || c.relname as name, pg_has_role(c.relowner, 'usage') as "isOwned",
      has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select') as "canRead",
      has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'update')
        and has_table_privilege(c.oid, 'delete') as "canWrite"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${[...wanted, 'pgboss']}::text[]) and c.relkind in ('r', 'p')
    order by name`.execute(db)
  const [identity] = server.rows
  assert(identity !== undefined)
  return {
    ...identity,
    hasTables: tables.rows.length > 0,
    /** Whether the user may create the missing schemas and tables, and change the existing ones. */
    canMigrate: schemas.rows.every(({ canCreate }) => canCreate) && tables.rows.every(({ isOwned }) => isOwned),
    /** Existing tables that this user may not both read and write. */
    closedTables: tables.rows
      .filter(({ name, canRead, canWrite }) => !canRead || !(canWrite || writtenByMigrations.has(name)))
      .map(({ name }) => name),
  }
}

const writtenByMigrations: ReadonlySet<string> = new Set(migrationTables.map((table) => `livehouse_ops.${table}`))
