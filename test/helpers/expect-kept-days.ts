import { type Kysely, sql } from 'kysely'
import { expect } from 'vitest'
import type { Database } from '../../src/store/database.ts'

async function readShown(db: Kysely<Database>) {
  const { rows } = await sql<{ row: unknown }>`
    (select to_jsonb(d) as row from livehouse_bi.daily_channel d order by channel_id, day)
    union all (select to_jsonb(b) from livehouse_bi.fct_broadcast b order by broadcast_key)`.execute(db)
  return rows.map(({ row }) => row)
}

/**
 * Holds what analysts see of days and broadcasts against what they would see if nothing of it were kept; leaves all as it was.
 * @returns how many days are kept, and how many have changed since
 */
export async function expectKeptDays(
  db: Kysely<Database>,
): Promise<{ readonly kept: number; readonly changed: number }> {
  return await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ kept: number; changed: number }>`
      select (select count(*)::integer from livehouse_ops.channel_days) as kept,
        (select count(*)::integer from livehouse_ops.changed_channel_days) as changed`.execute(trx)
    const shown = await readShown(trx)
    await sql`savepoint as_kept`.execute(trx)
    await sql`delete from livehouse_ops.channel_days`.execute(trx)
    // The database notes the days of every row that is written.
    await sql`update livehouse.watch_records set run_id = run_id`.execute(trx)
    expect(await readShown(trx)).toEqual(shown)
    await sql`rollback to as_kept`.execute(trx)
    return rows[0] ?? { kept: 0, changed: 0 }
  })
}
