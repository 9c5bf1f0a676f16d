import { hasCode } from '../core/errors.ts'
import type { FetchPage } from '../core/page.ts'
import type { Stream } from '../core/stream.ts'
import { readGoneChannels, readUnaskedChannels, recordChannelAnswers } from '../state/channel-states.ts'
import type { HearingRun } from './settle-channels.ts'

/**
 * Asks once a day of the service, with one small call each, for the channels that are gone. One that is known again is active
 * at once, so that only a run asks that reads it then. Where the call fails otherwise, the next run asks.
 * @param streams those of the run
 * @returns the channels that are gone: they are left out
 */
export async function askGoneChannels(
  run: HearingRun,
  streams: readonly Stream[],
  fetchPage: FetchPage,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const { db, log, runId, serviceDay } = run
  const stream = streams.find(({ partitionedBy, isTimeFiltered }) => partitionedBy === 'channel' && !isTimeFiltered)
  const due = await readUnaskedChannels(db, serviceDay)
  if (stream !== undefined && due.length > 0) {
    const answered = new Set<string>()
    const unknown = new Set<string>()
    const ask = async (channelId: string): Promise<void> => {
      const list = stream.request({ channel: channelId }, undefined)
      await fetchPage({ list, page: 1, pageSize: 1 }, { signal }).then(
        () => answered.add(channelId),
        (error: unknown) => hasCode(error, 'api.channelUnknown') && unknown.add(channelId),
      )
    }
    await Promise.all(due.map(ask))
    const { back } = await recordChannelAnswers(db, { unknown, answered, serviceDay }, runId)
    for (const channelId of back) log.info('channel.back', { channelId })
  }
  return await readGoneChannels(db)
}
