import { type Kysely, sql } from 'kysely'
import type { Database } from '../../store/database.ts'
import { setLocal } from '../../store/driver.ts'
import { lockName } from '../../store/lock-name.ts'
import { quoteText } from '../quote.ts'
import { keepChangedDays } from '../views/fragments/channel-days.ts'
import { keepChannels } from '../views/fragments/channel-figures.ts'
import { unlisted } from '../views/fragments/identity.ts'
import { dailyGifts, dailySignups, newViewers } from '../views/daily-channel.ts'
import { viewerChecks } from '../views/reconciliation.ts'
import { returns } from '../views/viewer-cohort-week.ts'
import { funnelSteps } from '../views/viewer-funnel.ts'

const figures = [newViewers, dailyGifts, dailySignups, returns, funnelSteps, viewerChecks, unlisted]

/** Days that one transaction works out: about a second of work. */
const MOST_DAYS = 1000
/** Channels that one transaction works out. */
const MOST_CHANNELS = 25

/** What is added up by viewer is added up in memory, not on disk. One such transaction is at work at a time. */
const WORK_MEMORY = '64MB'

/**
 * Keeps the figures of all days of channels that have changed, and then of these channels; what is done when it is
 * stopped stays.
 */
export async function keepFigures(db: Kysely<Database>, signal?: AbortSignal): Promise<void> {
  const isStopped = () => signal?.aborted === true
  for (let days = MOST_DAYS; days === MOST_DAYS && !isStopped(); ) {
    days = await inTurn(db, 0, async (trx, zone) => {
      const kept = await sql.raw<{ days: number }>(keepChangedDays(MOST_DAYS, zone)).execute(trx)
      return kept.rows[0]?.days ?? 0
    })
  }
  const { rows } = await sql<{ channel: string }>`
    select distinct channel_id as channel from livehouse_ops.changed_channels order by 1`.execute(db)
  const channels = rows.map(({ channel }) => quoteText(channel))
  for (let first = 0; first < channels.length && !isStopped(); first += MOST_CHANNELS) {
    await inTurn(db, undefined, async (trx, zone) => {
      const some = channels.slice(first, first + MOST_CHANNELS).join(', ')
      await sql.raw(keepChannels(figures, some, zone)).execute(trx)
    })
  }
}

/** @param none what comes of it without the views: then nothing is noted */
async function inTurn<T>(
  db: Kysely<Database>,
  none: T,
  work: (trx: Kysely<Database>, zone: string) => Promise<T>,
): Promise<T> {
  return await db.transaction().execute(async (trx) => {
    // Two at once would wait for each other's rows, in any order.
    await lockName(trx, 'channel days')
    await setLocal(trx, { work_mem: WORK_MEMORY })
    const { rows } = await sql<{ zone: string | null }>`
      select time_zone as zone from livehouse_ops.bi_settings`.execute(trx)
    const zone = rows[0]?.zone
    return typeof zone === 'string' ? await work(trx, zone) : none
  })
}
