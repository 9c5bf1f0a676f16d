import { type Kysely, sql } from 'kysely'
import type { Database } from '../store/database.ts'

/** Whether this user may write what processes share of their calls; someone who only reads may not. */
export async function mayShareCalls(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select not (pg_is_in_recovery() or current_setting('transaction_read_only')::boolean)
      and has_schema_privilege('livehouse_ops', 'usage')
      and bool_and(has_table_privilege(name, 'select') and has_table_privilege(name, 'insert')
        and has_table_privilege(name, 'update')) as may
    from unnest(array['livehouse_ops.access_tokens', 'livehouse_ops.call_paces']) as name`.execute(db)
  return rows[0]?.may ?? false
}
