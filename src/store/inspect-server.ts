import assert from 'node:assert/strict'
import { type Kysely, sql } from 'kysely'
import { wallTimeAt } from '../core/wall-clock.ts'
import type { Database } from './database.ts'
import { MIGRATION_LOCK_TABLE, MIGRATION_SCHEMA, MIGRATION_TABLE } from './migration-lock.ts'

/** The server behind a connection, and what its user may do there. */
export interface Rights {
  readonly version: string
  readonly user: string
  /** A standby, or read-only by setting. */
  readonly isReadOnly: boolean
  /** May make what is missing of the schemas, and change every table that is there. */
  readonly canMigrate: boolean
  /** Tables that are there and that this user may not read and write. */
  readonly closedTables: readonly string[]
}

/** Asks the catalog; changes nothing. */
export async function readRights(db: Kysely<Database>): Promise<Rights> {
  const server = await sql<ServerRow>`
    select current_setting('server_version') as version, current_user::text as "user",
      pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as "isReadOnly"`.execute(db)
  const schemas = await sql<{ canCreate: boolean }>`
    select coalesce(has_schema_privilege(n.oid, 'create'), has_database_privilege(current_database(), 'create'))
      as "canCreate"
    from unnest(array['livehouse', 'livehouse_ops']) as wanted (name)
    left join pg_namespace n on n.nspname = wanted.name`.execute(db)
  const tables = await sql<TableRow>`
    select n.nspname || '.' || c.relname as name, pg_has_role(c.relowner, 'usage') as "isOwned",
      has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select') as "canRead",
      has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'update')
        and has_table_privilege(c.oid, 'delete') as "canWrite"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('livehouse', 'livehouse_ops') and c.relkind in ('r', 'p')
    order by name`.execute(db)
  const [found] = server.rows
  assert(found !== undefined)
  return {
    ...found,
    canMigrate: schemas.rows.every(({ canCreate }) => canCreate) && tables.rows.every(({ isOwned }) => isOwned),
    closedTables: tables.rows
      .filter(({ name, canRead, canWrite }) => !canRead || !(canWrite || writtenByMigrations.has(name)))
      .map(({ name }) => name),
  }
}

const writtenByMigrations: ReadonlySet<string> = new Set(
  [MIGRATION_TABLE, MIGRATION_LOCK_TABLE].map((table) => `${MIGRATION_SCHEMA}.${table}`),
)

interface ServerRow {
  readonly version: string
  readonly user: string
  readonly isReadOnly: boolean
}

interface TableRow {
  readonly name: string
  readonly isOwned: boolean
  readonly canRead: boolean
  readonly canWrite: boolean
}

/** How the server's own list of zones has one. */
export interface ServerZone {
  readonly isKnown: boolean
  /** Instants at which its clock shows another time than ours, in milliseconds since 1970. */
  readonly differences: readonly number[]
}

/** Holds the server's clock of a zone against this runtime's, at instants (milliseconds since 1970). */
export async function readZone(
  db: Kysely<Database>,
  timeZone: string,
  instants: readonly number[],
): Promise<ServerZone> {
  const known = await sql<{ isKnown: boolean }>`
    select exists (select from pg_timezone_names where lower(name) = lower(${timeZone})) as "isKnown"`.execute(db)
  if (known.rows[0]?.isKnown !== true) return { isKnown: false, differences: [] }
  const { rows } = await sql<{ wall: string }>`
    select extract(epoch from (to_timestamp(floor(ms / 1000)) at time zone ${timeZone}))::bigint::text as wall
    from unnest(${[...instants]}::float8[]) with ordinality as given (ms, place) order by place`.execute(db)
  const differences = instants.filter((instant, index) => Number(rows[index]?.wall) !== wallTimeAt(instant, timeZone))
  return { isKnown: true, differences }
}
