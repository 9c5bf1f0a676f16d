import { type Kysely, sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import type { PaceCell } from '../core/pace-cell.ts'
import type { Database } from '../store/database.ts'

/**
 * Keeps the pace of calls to `host` in `livehouse_ops.call_paces`, by the database's clock, changed by comparing
 * versions: no lock is held while something is computed. While the database does not answer, this process goes on
 * alone.
 */
export function createSharedPace(db: Kysely<Database>, host: string, { now, monotonicMs = now }: Clock): PaceCell {
  let offsetMs = now() - monotonicMs()
  let last: unknown = null
  const databaseNow = (): number => monotonicMs() + offsetMs

  const tryExchange = async <T extends { readonly pace: unknown }>(change: (pace: unknown, nowMs: number) => T) => {
    const askedAtMs = monotonicMs()
    // Its clock is read where no row is there, too; changes of versions are plainer as they are written.
    const { rows } = await sql<{ version: string | null; pace: unknown; nowMs: number }>`
      select version, pace, (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"
      from (select) as one left join livehouse_ops.call_paces on host = ${host}`.execute(db)
    const [kept = { version: null, pace: null, nowMs: databaseNow() }] = rows
    // Its clock was read between the question and the answer.
    offsetMs = Math.max(kept.nowMs - monotonicMs(), Math.min(offsetMs, kept.nowMs - askedAtMs))
    const changed = change(kept.pace, databaseNow())
    const { numAffectedRows } = await sql`
      insert into livehouse_ops.call_paces as paces (host, version, pace)
      values (${host}, 1, ${JSON.stringify(changed.pace)}::jsonb)
      on conflict (host) do update set version = paces.version + 1, pace = excluded.pace
      where paces.version = ${kept.version}`.execute(db)
    return numAffectedRows === 1n ? changed : undefined
  }

  const exchange: PaceCell['exchange'] = async (change) => {
    const changed = await tryExchange(change).catch(() => change(last, databaseNow()))
    if (!changed) return await exchange(change)
    last = changed.pace
    return changed
  }
  return { exchange, now: databaseNow }
}

/** Whether this user may write what processes share of their calls; someone who only reads may not. */
export async function mayShareCalls(db: Kysely<Database>): Promise<boolean> {
  // Rights are beyond the builder.
  const { rows } = await sql<{ may: boolean }>`
    select not (pg_is_in_recovery() or current_setting('transaction_read_only')::boolean)
      and has_schema_privilege('livehouse_ops', 'usage')
      and bool_and(has_table_privilege(name, 'select') and has_table_privilege(name, 'insert')
        and has_table_privilege(name, 'update')) as may
    from unnest(array['livehouse_ops.access_tokens', 'livehouse_ops.call_paces']) as name`.execute(db)
  return rows[0]?.may ?? false
}
