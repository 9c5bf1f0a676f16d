import type { Db } from './database.ts'

/**
 * Waits until no other transaction has locked this name, and holds it until the end of this one. A row of
 * `livehouse_ops.locks`, which nobody without rights on that schema can lock.
 */
export async function lockName(trx: Db, name: string): Promise<void> {
  const insert = trx.insertInto('livehouse_ops.locks').values({ name })
  await insert.onConflict((conflict) => conflict.column('name').doUpdateSet({ name })).execute()
}

/** The same beside others that share it: it waits only for one that has locked it alone. */
export async function shareName(trx: Db, name: string): Promise<void> {
  const share = trx.selectFrom('livehouse_ops.locks').select('name').where('name', '=', name).forShare()
  if ((await share.execute()).length > 0) return
  await makeName(trx, name)
  await share.execute()
}

/** Does not wait. @returns whether it is locked by this transaction now */
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
