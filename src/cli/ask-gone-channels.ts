import { hasCode } from '../core/errors.ts'
import type { FetchPage } from '../core/page.ts'
import type { Stream } from '../core/stream.ts'
import { readGoneChannels, readUnaskedChannels, recordChannelAnswers } from '../state/channel-states.ts'
import type { HearingRun } from './settle-channels.ts'

/**
 * Asks once a day of the service, with one small call each, for the channels that are gone. One that is known again is read by
 * this run, and active when it has been. Where the call fails otherwise, the next run asks.
 * @param streams those of the run
 * @returns the channels that are still gone: they are left out
 */
export async function askGoneChannels(
  { db, runId, serviceDay }: HearingRun,
  streams: readonly Stream[],
  fetchPage: FetchPage,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const gone = new Set(await readGoneChannels(db))
  const stream = streams.find(({ partitionedBy, isTimeFiltered }) => partitionedBy === 'channel' && !isTimeFiltered)
  if (stream === undefined || gone.size === 0) return gone
  const unknown = new Set<string>()
  const ask = async (channelId: string): Promise<void> => {
    const list = stream.request({ channel: channelId }, undefined)
    await fetchPage({ list, page: 1, pageSize: 1 }, { signal }).then(
      () => gone.delete(channelId),
      (error: unknown) => hasCode(error, 'api.channelUnknown') && unknown.add(channelId),
    )
  }
  await Promise.all((await readUnaskedChannels(db, serviceDay)).map(ask))
  await recordChannelAnswers(db, { unknown, answered: new Set(), serviceDay }, runId)
  return gone
}
