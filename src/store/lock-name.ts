import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'

/**
 * Waits until no other transaction has locked this name, and holds it until the end of this one. A row of
 * `livehouse_ops.locks`, which nobody without rights on that schema can lock.
 */
export async function lockName(trx: Kysely<Database>, name: string): Promise<void> {
  await sql`
    insert into livehouse_ops.locks (name) values (${name}) on conflict (name) do update set name = excluded.name`.execute(
    trx,
  )
}

/** The same beside others that share it: it waits only for one that has locked it alone. */
export async function shareName(trx: Kysely<Database>, name: string): Promise<void> {
  const share = sql`select from livehouse_ops.locks where name = ${name} for share`
  if ((await share.execute(trx)).rows.length > 0) return
  await makeName(trx, name)
  await share.execute(trx)
}

/** Does not wait. @returns whether it is locked by this transaction now */
export async function tryLockName(trx: Kysely<Database>, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from livehouse_ops.locks where name = ${name} for update skip locked`.execute(trx)
  return rows.length > 0
}

/** Makes the row that `tryLockName` locks, where there is none yet. */
export async function makeName(db: Kysely<Database>, name: string): Promise<void> {
  await sql`insert into livehouse_ops.locks (name) values (${name}) on conflict do nothing`.execute(db)
}
