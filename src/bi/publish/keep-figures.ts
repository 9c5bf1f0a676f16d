import { sql } from 'kysely'
import { hasCode } from '../../core/errors.ts'
import type { Db } from '../../store/database.ts'
import { setLocal } from '../../store/driver.ts'
import { transact } from '../../store/load/load.ts'
import { lockName } from '../../store/lock-name.ts'
import { quoteText } from '../quote.ts'
import { keepChangedDays } from '../views/fragments/channel-days.ts'
import { keepChannels } from '../views/fragments/channel-figures.ts'
import { unlisted } from '../views/fragments/identity.ts'
import { keepPersons } from '../views/fragments/persons.ts'
import { dailyGifts, dailySignups, newViewers } from '../views/daily-channel.ts'
import { FIGURES, notesIn, notesOf } from '../views/note-changes.ts'
import { viewerChecks } from '../views/reconciliation.ts'
import { returns } from '../views/viewer-cohort-week.ts'
import { funnelSteps } from '../views/viewer-funnel.ts'
import { versionOfViews } from './plan-publication.ts'

const figures = [newViewers, dailyGifts, dailySignups, returns, funnelSteps, viewerChecks, unlisted]

/** Days that one transaction works out: about a second of work. */
const MOST_DAYS = 1000
/** Channels that one transaction works out. */
const MOST_CHANNELS = 25

/** What is added up by viewer is added up in memory, not on disk. One such transaction is at work at a time. */
const WORK_MEMORY = '64MB'
const CANCELLED = '57014'

/**
 * Keeps the figures of all days of channels that have changed, of persons, and then of these channels; what is done
 * when it is stopped stays.
 */
export async function keepFigures(db: Db, signal?: AbortSignal): Promise<void> {
  const isStopped = () => signal?.aborted === true
  for (let days = MOST_DAYS; days === MOST_DAYS && !isStopped(); ) {
    days = await inTurn(db, signal, 0, async (trx, zone) => {
      const kept = await sql.raw<{ days: number }>(keepChangedDays(MOST_DAYS, zone)).execute(trx)
      return kept.rows[0]?.days ?? 0
    })
  }
  if (isStopped()) return
  await inTurn(db, signal, undefined, async (trx) => void (await sql.raw(keepPersons).execute(trx)))
  const { rows } = await sql<{ channel: string }>`
    select distinct channel_id as channel from livehouse_ops.changed_channels order by 1`.execute(db)
  const channels = rows.map(({ channel }) => quoteText(channel))
  for (let first = 0; first < channels.length && !isStopped(); first += MOST_CHANNELS) {
    await inTurn(db, signal, undefined, async (trx, zone) => {
      const some = channels.slice(first, first + MOST_CHANNELS).join(', ')
      await sql.raw(keepChannels(figures, some, zone)).execute(trx)
    })
  }
}

/**
 * @param none what comes of it where it is stopped, and without the views of this livehouse: then nothing is noted, or
 * another one works it out otherwise
 */
async function inTurn<T>(
  db: Db,
  signal: AbortSignal | undefined,
  none: T,
  work: (trx: Db, zone: string) => Promise<T>,
): Promise<T> {
  let pid: number | undefined
  const cancel = () => {
    sql`select pg_cancel_backend(${pid}::integer)`.execute(db).catch(() => {})
  }
  signal?.addEventListener('abort', cancel)
  try {
    return await transact(db, async (trx) => {
      pid = (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)).rows[0]?.pid
      // Two at once would wait for each other's rows, in any order.
      await lockName(trx, FIGURES)
      await setLocal(trx, { work_mem: WORK_MEMORY })
      const { rows } = await sql.raw<{ zone: string | null; notes: string }>(notesIn).execute(trx)
      const { zone = null, notes } = rows[0] ?? {}
      const isOurs = zone !== null && notes === notesOf(zone, versionOfViews(zone))
      return isOurs && signal?.aborted !== true ? await work(trx, zone) : none
    })
  } catch (error) {
    const isStopped = signal?.aborted === true && hasCode(error, 'db.refused')
    if (isStopped && error.details.sqlState === CANCELLED) return none
    throw error
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
}
