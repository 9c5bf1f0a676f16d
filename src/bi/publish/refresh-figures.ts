import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { quoteText } from '../quote.ts'
import { figures } from '../registry.ts'
import { refreshChangedDays } from '../views/fragments/channel-days.ts'
import { refreshChannels } from '../views/fragments/channel-figures.ts'
import { groupPersons } from './group-persons.ts'
import { hasChanges, withFiguresLock } from './with-figures-lock.ts'

/** Days per transaction: about a second of work. */
const MAX_DAYS = 1000
/** Channels per transaction. */
const MAX_CHANNELS = 25

/** Computes and stores what has changed: days, then persons, then channels. After an abort, what is committed stays. */
export async function refreshFigures(db: Db, signal?: AbortSignal): Promise<void> {
  await refreshDays(db, signal)
  await groupPersons(db, signal)
  await refreshChannelFigures(db, signal)
}

async function refreshDays(db: Db, signal: AbortSignal | undefined): Promise<void> {
  let hasMore = await hasChanges(db, 'changed_channel_days')
  while (hasMore) {
    const days = await withFiguresLock(db, signal, async (trx, zone) => {
      const { rows } = await sql.raw<{ days: number }>(refreshChangedDays(MAX_DAYS, zone)).execute(trx)
      return rows[0]?.days
    })
    hasMore = days === MAX_DAYS
  }
}

async function refreshChannelFigures(db: Db, signal: AbortSignal | undefined): Promise<void> {
  let last: string | undefined = (await hasChanges(db, 'changed_channels')) ? '' : undefined
  while (last !== undefined) {
    const after: string = last
    last = await withFiguresLock(db, signal, async (trx, zone) => {
      // Another run may have computed some of them by now.
      const { rows } = await sql<{ channel: string }>`
        select distinct channel_id as channel from livehouse_ops.changed_channels
        where channel_id > ${after} order by 1 limit ${MAX_CHANNELS}`.execute(trx)
      const channels = rows.map(({ channel }) => quoteText(channel))
      if (channels.length > 0) await sql.raw(refreshChannels(figures, channels.join(', '), zone)).execute(trx)
      return rows.at(-1)?.channel
    })
  }
}
