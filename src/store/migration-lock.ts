import { sql, type Transaction } from 'kysely'
import { codeOf, LivehouseError } from '../core/errors.ts'
import type { Database, Db } from './database.ts'
import { setLocal } from './driver.ts'

const LOCK_NOT_AVAILABLE = '55P03'
/** Another makes the schema or a table of it at the same moment. */
const MADE_MEANWHILE: ReadonlySet<string> = new Set(['23505', '42P06', '42P07'])
/** How often a lock is waited for, 2 seconds each: that of another migration, and those that the work itself needs. */
const MOST_WAITS = 30
const MOST_TRIES = 3

/**
 * Works in a transaction that holds the migration lock, a row that only its owners can lock. Waits are short, and
 * nothing is queued between two of them: who waits to change a table or view keeps everybody else from reading it.
 *
 * Functions are those of Postgres alone: views keep for ever what their names meant when they were made, and where
 * everybody may create in schema public (the default before PostgreSQL 15) a `convert_to(text, text)` may match better.
 * @throws db.refused with state 55P03, naming who is in the way
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
        await setLocal(transaction, { lock_timeout: '2s', search_path: 'pg_catalog' })
        const found = transaction.selectNoFrom((eb) => eb.fn<string | null>('to_regclass', [eb.val(lock)]).as('table'))
        const { table } = await found.executeTakeFirstOrThrow()
        const statements = [...(table === null ? createMigrationTables : []), takeMigrationLock]
        // The same texts are part of the script for a DBA.
        for (const statement of statements) await sql.raw(statement).execute(transaction)
        hasLock = true
        return await work(transaction)
      })
    } catch (error) {
      const code = codeOf(error)
      if (!hasLock && MADE_MEANWHILE.has(code)) continue
      if (code !== LOCK_NOT_AVAILABLE) throw error
      if (hasLock ? ++tries < MOST_TRIES : ++waits < MOST_WAITS) continue
      const reason = await describeHolders(db)
      const message = `Database: ${reason}. Have that end, or end it with pg_terminate_backend, and run again.`
      throw new LivehouseError('db.refused', message, { reason, sqlState: LOCK_NOT_AVAILABLE }, { cause: error })
    }
  }
}

/** Who holds what is waited for: those with the oldest open transactions on tables or views of livehouse. */
async function describeHolders(db: Db): Promise<string> {
  // Catalogs are unknown to the builder.
  const { rows } = await sql<{ who: string }>`
    select format('process %s of login %s%s, on %s', pid, usename,
      ' since ' || to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'),
      concat_ws(' and ', array_to_string((array_agg(distinct relation::regclass::text))[:3], ', '),
        nullif(greatest(count(distinct relation) - 3, 0), 0) || ' more')) as who
    from pg_locks join pg_stat_activity using (pid) join pg_class on pg_class.oid = relation
    where granted and relkind <> 'i' and datname = current_database() and pid <> pg_backend_pid()
      and relnamespace::regnamespace::text in ('livehouse', 'livehouse_ops', 'livehouse_bi', 'livehouse_forms')
      and coalesce(xact_start < now() - interval '2 seconds', true)
    group by pid, usename, xact_start order by xact_start limit 3`.execute(db)
  if (rows.length === 0) return 'an open transaction was in the way'
  return `an open transaction is in the way: ${rows.map(({ who }) => who).join('; ')}`
}

/** The list of what the database has had, and the table whose row is locked meanwhile. */
export const migrationTables = ['migrations', 'migration_lock'] as const

const list = 'livehouse_ops.migrations'
const lock = 'livehouse_ops.migration_lock'

/** Nobody without rights on the table can lock its row. The lock ends with its transaction. */
export const takeMigrationLock = `select from ${lock} for update`

/** Adds a migration to the list; its name is one of a file. */
export function recordMigration(name: string): string {
  const now = `to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  return `insert into ${list} (name, timestamp) values ('${name}', ${now})`
}

/** The schema is only made where there is none: `if not exists` asks for the right to make it all the same. */
export const createMigrationTables: readonly string[] = [
  `do $$ begin
  if to_regnamespace('livehouse_ops') is null then create schema livehouse_ops; end if;
end $$`,
  `create table if not exists ${list} (name varchar(255) not null primary key, timestamp varchar(255) not null)`,
  `create table if not exists ${lock} (id varchar(255) not null primary key, is_locked integer default 0 not null)`,
  `insert into ${lock} (id, is_locked) values ('migration_lock', 0) on conflict do nothing`,
]
