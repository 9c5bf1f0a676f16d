/** Where Kysely's Migrator keeps its list. */
export const MIGRATION_SCHEMA = 'livehouse_ops'
export const MIGRATION_TABLE = 'migrations'
export const MIGRATION_LOCK_TABLE = 'migration_lock'

const list = `${MIGRATION_SCHEMA}.${MIGRATION_TABLE}`
const lock = `${MIGRATION_SCHEMA}.${MIGRATION_LOCK_TABLE}`

/** Nobody without rights on the table can lock its row. The lock ends with its transaction, so no session has to last. */
export const takeMigrationLock = `select from ${lock} for update`

/**
 * The Migrator's own tables as it would make them. Made before it looks: it asks again after a failure, which a
 * transaction does not allow, and the right that is missing would stay unsaid. The schema is only made where there is none, because
 * `if not exists` asks for the right to make it all the same.
 */
export const createMigrationTables: readonly string[] = [
  `do $$ begin
  if to_regnamespace('${MIGRATION_SCHEMA}') is null then create schema ${MIGRATION_SCHEMA}; end if;
end $$`,
  `create table if not exists ${list} (name varchar(255) not null primary key, timestamp varchar(255) not null)`,
  `create table if not exists ${lock} (id varchar(255) not null primary key, is_locked integer default 0 not null)`,
  `insert into ${lock} (id, is_locked) values ('migration_lock', 0) on conflict do nothing`,
]
