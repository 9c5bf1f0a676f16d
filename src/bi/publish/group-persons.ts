import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { addPersons, forgetChangedPersons, joinPersons } from '../views/fragments/identity.ts'

/**
 * Puts the viewers of all channels together who share an id, also by way of others, as they are known now. Rows of
 * viewers of whom nothing has changed are not written.
 */
export async function groupPersons(db: Db): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // Another run may end at the same time. Readers are not stopped.
    await sql`lock table livehouse_ops.viewer_persons in share row exclusive mode`.execute(trx)
    await sql.raw(forgetChangedPersons).execute(trx)
    await sql.raw(addPersons).execute(trx)
    for (let changed = true; changed; ) {
      changed = false
      for (const statement of joinPersons) {
        const { numAffectedRows = 0n } = await sql.raw(statement).execute(trx)
        changed ||= numAffectedRows > 0n
      }
    }
  })
}
