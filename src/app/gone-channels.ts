import assert from 'node:assert/strict'
import { hasCode } from '../core/errors.ts'
import type { RunProblem } from '../core/outcome.ts'
import type { FetchPage } from '../core/page.ts'
import { parsePartition } from '../core/slice.ts'
import { DAYS_UNTIL_GONE, readGoneChannels, readGoneChannelsToAsk, recordChannelAnswers } from '../ledger/channels.ts'
import { readAnsweredChannels } from '../ledger/slices/slices-of-runs.ts'
import { streams } from '../streams/registry.ts'
import type { RunDeps } from '../sync/slice-work.ts'

/** A list that every channel has, whichever streams a run reads. */
const channelList =
  streams.find(({ partitionedBy, isTimeFiltered }) => partitionedBy === 'channel' && !isTimeFiltered) ??
  assert.fail('no list of a channel')

/**
 * Checks once a day, with one small call each, whether channels that are gone have come back. If the service knows a
 * channel again, this run reads it. So it does if the call fails for another reason, which the run then reports.
 * @returns the channels that are still gone, which the run leaves out
 */
export async function checkGoneChannels(
  { db, runId, serviceDay }: ReadingRun,
  fetchPage: FetchPage,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const gone = new Set(await readGoneChannels(db))
  const unknown = new Set<string>()
  const ask = async (channelId: string): Promise<void> => {
    const list = { stream: channelList, partition: { channel: channelId } }
    await fetchPage({ list, page: 1, pageSize: 1 }, { signal }).then(
      () => gone.delete(channelId),
      (error: unknown) => (hasCode(error, 'api.channelUnknown') ? unknown.add(channelId) : gone.delete(channelId)),
    )
  }
  await Promise.all((await readGoneChannelsToAsk(db, serviceDay)).map(ask))
  await recordChannelAnswers(db, { unknown, answered: new Set(), serviceDay }, runId)
  return gone
}

/** A run that reads channels. `serviceDay`: the service's date when it began, `YYYY-MM-DD`. */
interface ReadingRun extends Pick<RunDeps, 'db' | 'log' | 'runId'> {
  readonly serviceDay: string
}

/**
 * Records which channels the service did not know in this run. A channel that becomes gone is reported once: with a
 * log line, and with one problem that replaces those of its streams.
 * @returns the problems of the run
 */
export async function recordUnknownChannels(
  { db, log, runId, serviceDay }: ReadingRun,
  problems: readonly RunProblem[],
): Promise<readonly RunProblem[]> {
  const unknown = new Set(problems.flatMap(unknownChannelOf))
  const answered = await readAnsweredChannels(db, runId)
  const { gone, back, tooMany } = await recordChannelAnswers(db, { unknown, answered, serviceDay }, runId)
  for (const channelId of gone) log.warn('channel.gone', { channelId, days: DAYS_UNTIL_GONE })
  for (const channelId of back) log.info('channel.back', { channelId })
  if (tooMany.length > 0) {
    log.warn('channels.unknown', {
      channels: tooMany.length,
      reason: 'the service does not know over half of the channels: that is taken for its failure, and none is gone',
    })
  }
  const others = problems.filter((problem) => !unknownChannelOf(problem).some((channelId) => gone.includes(channelId)))
  return [...others, ...gone.map(goneProblem)]
}

function unknownChannelOf({ code, partition }: RunProblem): readonly string[] {
  const channel = code === 'api.channelUnknown' && partition !== null ? parsePartition(partition)?.channel : undefined
  return channel === undefined ? [] : [channel]
}

function goneProblem(channelId: string): RunProblem {
  const message =
    `the service did not know channel ${channelId} on ${DAYS_UNTIL_GONE} days: it is gone. ` +
    `It is checked once a day, and read again when it is back; remove it from LIVEHOUSE_CHANNELS, ` +
    `or try it now with --channels ${channelId}.`
  return { stream: null, partition: `channel=${channelId}`, code: 'api.channelUnknown', message }
}
