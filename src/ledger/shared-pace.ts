import { type Kysely, sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { createMemoryPaceCell, type PaceCell } from '../core/pace-cell.ts'
import type { Database } from '../store/database.ts'

/**
 * Keeps the pace of calls to `host` in `livehouse_ops.call_paces`, by the database's clock, changed by comparing
 * versions: no lock is held while something is computed. While the database does not answer, this process goes on
 * alone from what was kept last.
 */
export function createSharedPace(db: Kysely<Database>, host: string, clock: Clock): PaceCell {
  const { now, monotonicMs = now } = clock
  let offsetMs = now() - monotonicMs()
  const alone = createMemoryPaceCell({ ...clock, monotonicMs: () => monotonicMs() + offsetMs })

  const exchange: PaceCell = async (change) => {
    const askedAtMs = monotonicMs()
    // Its clock is read where no row is there, too; changes of versions are plainer as they are written.
    const { rows } = await sql<{ version: string | null; pace: unknown; nowMs: number }>`
      select version, pace, (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"
      from (select) as one left join livehouse_ops.call_paces on host = ${host}`.execute(db)
    const [kept = { version: null, pace: null, nowMs: askedAtMs + offsetMs }] = rows
    // Its clock was read between the question and the answer.
    offsetMs = Math.max(kept.nowMs - monotonicMs(), Math.min(offsetMs, kept.nowMs - askedAtMs))
    const changed = change(kept.pace, monotonicMs() + offsetMs)
    const { numAffectedRows } = await sql`
      insert into livehouse_ops.call_paces as paces (host, version, pace)
      values (${host}, 1, ${JSON.stringify(changed.pace)}::jsonb)
      on conflict (host) do update set version = paces.version + 1, pace = excluded.pace
      where paces.version = ${kept.version}`.execute(db)
    return numAffectedRows === 1n ? await alone(() => changed) : await exchange(change)
  }
  return async (change) => await exchange(change).catch(() => alone(change))
}
