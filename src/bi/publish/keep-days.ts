import { type Kysely, sql } from 'kysely'
import type { Database } from '../../store/database.ts'
import { lockName } from '../../store/lock-name.ts'
import { keepChangedDays } from '../views/fragments/channel-days.ts'

/** Days that one transaction works out: about a second of work. */
const MOST_DAYS = 1000

/** Keeps the figures of all days of channels that have changed; what is done when it is stopped stays. */
export async function keepDays(db: Kysely<Database>, signal?: AbortSignal): Promise<void> {
  const isStopped = () => signal?.aborted === true
  for (let days = MOST_DAYS; days === MOST_DAYS && !isStopped(); ) {
    days = await db.transaction().execute(async (trx) => {
      // Two at once would wait for each other's rows, in any order.
      await lockName(trx, 'channel days')
      const { rows } = await sql<{ zone: string | null }>`
        select time_zone as zone from livehouse_ops.bi_settings`.execute(trx)
      // Without the views nothing is noted.
      if (typeof rows[0]?.zone !== 'string') return 0
      const kept = await sql.raw<{ days: number }>(keepChangedDays(MOST_DAYS, rows[0].zone)).execute(trx)
      return kept.rows[0]?.days ?? 0
    })
  }
}
