import type { Db } from './database.ts'
import { setLocal } from './driver.ts'

/** The server ends a transaction that is idle for longer (its process is suspended), as others wait for its locks. */
export const idleLimit = { idle_in_transaction_session_timeout: '20s' }

/**
 * Waits for any other transaction that has locked this name, and locks it until the end of this one. The lock is a row
 * of `livehouse_ops.locks`, so that only users with rights on that schema can take it.
 */
export async function lockName(trx: Db, name: string): Promise<void> {
  await setLocal(trx, idleLimit)
  const insert = trx.insertInto('livehouse_ops.locks').values({ name })
  await insert.onConflict((conflict) => conflict.column('name').doUpdateSet({ name })).execute()
}

/** Shares a name with other transactions that share it; waits only for one that has locked it with `lockName`. */
export async function shareName(trx: Db, name: string): Promise<void> {
  const share = trx.selectFrom('livehouse_ops.locks').select('name').where('name', '=', name).forShare()
  if ((await share.execute()).length > 0) return
  const insert = trx.insertInto('livehouse_ops.locks').values({ name })
  await insert.onConflict((conflict) => conflict.doNothing()).execute()
  await share.execute()
}
