import type { Db } from './database.ts'

/**
 * Waits until no other transaction has locked this name, and holds it until the end of this one. It locks a row of
 * `livehouse_ops.locks`, which only users with rights on that schema can do.
 */
export async function lockName(trx: Db, name: string): Promise<void> {
  const insert = trx.insertInto('livehouse_ops.locks').values({ name })
  await insert.onConflict((conflict) => conflict.column('name').doUpdateSet({ name })).execute()
}

/** Shares a name with other transactions; waits only for one that has it by `lockName`. */
export async function shareName(trx: Db, name: string): Promise<void> {
  const share = trx.selectFrom('livehouse_ops.locks').select('name').where('name', '=', name).forShare()
  if ((await share.execute()).length > 0) return
  await makeName(trx, name)
  await share.execute()
}

/** Locks a name without waiting. @returns whether this transaction has it now */
export async function tryLockName(trx: Db, name: string): Promise<boolean> {
  const locks = trx.selectFrom('livehouse_ops.locks').select('name').where('name', '=', name)
  return (await locks.forUpdate().skipLocked().execute()).length > 0
}

/** Makes the row that `tryLockName` locks, where there is none yet. */
export async function makeName(db: Db, name: string): Promise<void> {
  await db
    .insertInto('livehouse_ops.locks')
    .values({ name })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
