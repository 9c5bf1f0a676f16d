import type { Db } from './database.ts'
import { setLocal } from './driver.ts'

/** The server ends a transaction whose process is stopped for longer: others wait for its locks. */
export const endedWhenIdle = { idle_in_transaction_session_timeout: '20s' }

/**
 * Waits until no other transaction has locked this name, and holds it until the end of this one. It locks a row of
 * `livehouse_ops.locks`, which only users with rights on that schema can do.
 */
export async function lockName(trx: Db, name: string): Promise<void> {
  await setLocal(trx, endedWhenIdle)
  const insert = trx.insertInto('livehouse_ops.locks').values({ name })
  await insert.onConflict((conflict) => conflict.column('name').doUpdateSet({ name })).execute()
}

/** Shares a name with other transactions; waits only for one that has it by `lockName`. */
export async function shareName(trx: Db, name: string): Promise<void> {
  const share = trx.selectFrom('livehouse_ops.locks').select('name').where('name', '=', name).forShare()
  if ((await share.execute()).length > 0) return
  const insert = trx.insertInto('livehouse_ops.locks').values({ name })
  await insert.onConflict((conflict) => conflict.doNothing()).execute()
  await share.execute()
}
