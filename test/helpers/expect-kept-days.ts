import { type Kysely, sql } from 'kysely'
import { expect } from 'vitest'
import type { Database } from '../../src/store/database.ts'

const prepareShown = sql`deallocate all; prepare shown as
    (select to_jsonb(d) as row from livehouse_bi.daily_channel d order by channel_id, day)
    union all (select to_jsonb(b) from livehouse_bi.fct_broadcast b order by broadcast_key)
    union all (select to_jsonb(f) from livehouse_bi.viewer_funnel f order by channel_id, step_no)
    union all (select to_jsonb(f) from livehouse_bi.viewer_funnel_month f order by channel_id, month_start, step_no)
    union all (select to_jsonb(w) from livehouse_bi.viewer_cohort_week w order by channel_id, cohort_week, week_no)
    union all (select to_jsonb(m) from livehouse_bi.viewer_return_month m order by channel_id, month_start, previous_month)
    union all (select to_jsonb(r) from livehouse_bi.reconciliation r order by check_name, channel_id)
    union all (select to_jsonb(v) from livehouse_bi.dim_viewer v order by viewer_key)
    union all (select to_jsonb(p) from livehouse_bi.dim_person p order by person_key)`

/**
 * Expects that analysts see the same days, channels and persons with stored figures as without. Changes nothing.
 * @returns how many days are stored, and how many days, channels and persons have been noted as changed since
 */
export async function expectKeptDays(db: Kysely<Database>) {
  return await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ kept: number; changed: number }>`
      select (select count(*)::integer from livehouse_ops.channel_days) as kept,
        (select count(*)::integer from (
          select from livehouse_ops.changed_channel_days union all select from livehouse_ops.changed_channels
          union all select from livehouse_ops.changed_persons) c) as changed`.execute(trx)
    // Planning the query takes longer than running it.
    await prepareShown.execute(trx)
    const readShown = async () => (await sql`execute shown`.execute(trx)).rows
    const shown = await readShown()
    await sql`savepoint as_kept`.execute(trx)
    await sql`delete from livehouse_ops.channel_days`.execute(trx)
    await sql`delete from livehouse_ops.channel_figures`.execute(trx)
    await sql`delete from livehouse_ops.kept_persons`.execute(trx)
    // Triggers note the days of written rows as changed.
    for (const table of ['watch_records', 'visitors', 'gifts', 'signups'])
      await sql`update ${sql.table(`livehouse.${table}`)} set run_id = run_id`.execute(trx)
    expect(await readShown()).toEqual(shown)
    await sql`rollback to as_kept`.execute(trx)
    return rows[0] ?? { kept: 0, changed: 0 }
  })
}
