import { sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { codeOf } from '../core/errors.ts'
import type { PaceChange, UpdatePace, WithPace } from '../core/shared-calls.ts'
import type { Db } from '../store/database.ts'
import { isConnectionLoss } from '../store/translate-error.ts'

/** As long as a lease lasts: after that, another process may have taken over the work. */
const MAX_OUTAGE_MS = 20_000
const OUTAGE_POLL_MS = 500
const SERIALIZATION = '40001'

/**
 * Keeps the pace of calls to `host` in `livehouse_ops.call_paces`, by the database's clock, with optimistic locking: a
 * change is computed again if another process has changed the version meanwhile. While the database does not answer, no
 * call leaves: processes that went on alone would exceed the ceiling together, and could store nothing.
 * @returns a function that waits up to 20 s for a lost database, and then fails
 */
export function createSharedPace(db: Db, host: string, clock: Clock): UpdatePace {
  const { now, monotonicMs = now } = clock
  let offsetMs = now() - monotonicMs()
  const update = async <T extends WithPace>(
    change: PaceChange<T>,
    version: string | null,
    proposed?: T,
  ): Promise<T> => {
    const askedAtMs = monotonicMs()
    // A statement that writes and reads is plainer in SQL. It reads the clock even if there is no row.
    const { rows } = await sql<{ version: string | null; pace: unknown; now: string; isAccepted: boolean }>`
      with taken as (insert into livehouse_ops.call_paces as paces (host, version, pace)
        select ${host}::text, 1, ${JSON.stringify(proposed?.pace)}::jsonb where ${proposed !== undefined}::boolean
        on conflict (host) do update set version = paces.version + 1, pace = excluded.pace
        where paces.version = ${version}::bigint returning host)
      select version, pace, exists (select from taken) as "isAccepted",
        (extract(epoch from clock_timestamp()) * 1000)::text as "now"
      from (select) as one left join livehouse_ops.call_paces on host = ${host}`.execute(db)
    const [row = { version, pace: null, now: String(askedAtMs + offsetMs), isAccepted: false }] = rows
    // The database read its clock between the request and the answer, which bounds the offset.
    offsetMs = Math.max(Number(row.now) - monotonicMs(), Math.min(offsetMs, Number(row.now) - askedAtMs))
    if (proposed !== undefined && row.isAccepted) return proposed
    return await update(change, row.version, change(row.pace, monotonicMs() + offsetMs))
  }
  return async (change) => {
    for (let lastMs = Number.POSITIVE_INFINITY; ; await clock.sleep(OUTAGE_POLL_MS)) {
      try {
        return await update(change, null)
      } catch (error) {
        const mayPass = isConnectionLoss(error) || codeOf(error) === SERIALIZATION
        if (!mayPass || monotonicMs() > lastMs) throw error
        lastMs = Math.min(lastMs, monotonicMs() + MAX_OUTAGE_MS)
      }
    }
  }
}
