import { sql, type Transaction } from 'kysely'
import { codeOf, LivehouseError } from '../core/errors.ts'
import type { Database, Db } from './database.ts'
import { setLocal } from './driver.ts'
import { idleLimit } from './lock-name.ts'

const LOCK_NOT_AVAILABLE = '55P03'
/** SQLSTATEs if another process creates the schema, or a table in it, at the same time. */
const CREATED_MEANWHILE: ReadonlySet<string> = new Set(['23505', '42P06', '42P07'])
/** How often to wait for the migration lock, 2 seconds each. */
const MAX_WAITS = 30
/** How often to try the work if another session holds a lock that it needs. */
const MAX_TRIES = 3

/**
 * Runs work in a transaction that holds the migration lock, a row that only users with rights on its table can lock.
 * Waits for locks are short, and then the transaction starts again: a session that waits to change a table keeps all
 * others from reading it.
 * The search path is `pg_catalog` alone: a view keeps the functions that its names meant when it was created, and if
 * all users may create in schema public (the default before PostgreSQL 15), a function there may match better.
 * @throws db.refused with state 55P03, naming the sessions in the way
 */
export async function withMigrationLock<T>(
  db: Db,
  signal: AbortSignal | undefined,
  work: (transaction: Transaction<Database>) => Promise<T>,
): Promise<T> {
  let waits = 0
  let tries = 0
  for (;;) {
    signal?.throwIfAborted()
    let hasLock = false
    try {
      return await db.transaction().execute(async (transaction) => {
        await setLocal(transaction, { ...idleLimit, lock_timeout: '2s', search_path: 'pg_catalog' })
        const lookup = transaction.selectNoFrom((eb) => eb.fn<string | null>('to_regclass', [eb.val(lock)]).as('table'))
        const { table } = await lookup.executeTakeFirstOrThrow()
        const statements = [...(table === null ? createMigrationTables : []), takeMigrationLock]
        // Raw: the script for a DBA has the same texts.
        for (const statement of statements) await sql.raw(statement).execute(transaction)
        hasLock = true
        return await work(transaction)
      })
    } catch (error) {
      const code = codeOf(error)
      if (!hasLock && CREATED_MEANWHILE.has(code)) continue
      if (code !== LOCK_NOT_AVAILABLE) throw error
      if (hasLock ? ++tries < MAX_TRIES : ++waits < MAX_WAITS) continue
      const reason = await describeHolders(db)
      const message = `Database: ${reason}. Wait for its end, or end it with pg_terminate_backend, then run again.`
      throw new LivehouseError('db.refused', message, { reason, sqlState: LOCK_NOT_AVAILABLE }, { cause: error })
    }
  }
}

/** Names the sessions with the oldest open transactions on tables or views of livehouse. */
async function describeHolders(db: Db): Promise<string> {
  // The builder does not know the catalogs.
  const { rows } = await sql<{ session: string }>`
    select format('process %s of login %s%s, on %s', pid, usename,
      ' since ' || to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'),
      concat_ws(' and ', array_to_string((array_agg(distinct relation::regclass::text))[:3], ', '),
        nullif(greatest(count(distinct relation) - 3, 0), 0) || ' more')) as session
    from pg_locks join pg_stat_activity using (pid) join pg_class on pg_class.oid = relation
    where granted and relkind <> 'i' and datname = current_database() and pid <> pg_backend_pid()
      and relnamespace::regnamespace::text in ('livehouse', 'livehouse_ops', 'livehouse_bi', 'livehouse_forms')
      and coalesce(xact_start < now() - interval '2 seconds', true)
    group by pid, usename, xact_start order by xact_start limit 3`.execute(db)
  if (rows.length === 0) return 'an open transaction was in the way'
  return `an open transaction is in the way: ${rows.map(({ session }) => session).join('; ')}`
}

/** Finds version 0.1.0 at work in a schema without leases, by its advisory locks, which no later version takes. */
export async function findEarliestVersion(transaction: Db) {
  const { rows } = await sql<{ name: string | null }>`
    select (select distinct 'version 0.1.0' from pg_locks join pg_stat_activity using (pid) where locktype = 'advisory'
      and datname = current_database() and application_name = 'livehouse') as name where not exists (
      select from pg_tables where schemaname = 'livehouse_ops' and tablename = 'leases')`.execute(transaction)
  return rows[0]
}

/** The tables with the applied migrations and with the row that is the migration lock. */
export const migrationTables = ['migrations', 'migration_lock'] as const

/** The table of the applied migrations. */
export const MIGRATIONS = 'livehouse_ops.migrations'
const lock = 'livehouse_ops.migration_lock'

/** Takes the migration lock until the end of the transaction. Only users with rights on the table can take it. */
export const takeMigrationLock = `select from ${lock} for update`

/** The statement that records a migration as applied. Its name is one of a file, which needs no quoting. */
export function recordMigration(name: string): string {
  const now = `to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  return `insert into ${MIGRATIONS} (name, timestamp) values ('${name}', ${now})`
}

/** Creates these tables. Not by `create schema if not exists`, which requires that right even if the schema exists. */
export const createMigrationTables: readonly string[] = [
  `do $$ begin
  if to_regnamespace('livehouse_ops') is null then create schema livehouse_ops; end if;
end $$`,
  `create table if not exists ${MIGRATIONS} (name varchar(255) not null primary key, timestamp varchar(255) not null)`,
  `create table if not exists ${lock} (id varchar(255) not null primary key, is_locked integer default 0 not null)`,
  `insert into ${lock} (id, is_locked) values ('migration_lock', 0) on conflict do nothing`,
]
