import type { Kysely } from 'kysely'
import type { Log } from '../core/log.ts'
import type { RunProblem } from '../core/outcome.ts'
import { parsePartition } from '../core/slice.ts'
import type { Database } from '../db/database.ts'
import { readAnsweredChannels, recordChannelAnswers, RUNS_UNTIL_GONE } from '../state/channel-states.ts'

/**
 * Counts the channels that the service did not know in this run. One that becomes gone by it is said once: a log line, and one
 * problem in the place of those of its streams.
 * @returns the problems of the run
 */
export async function settleChannels(
  db: Kysely<Database>,
  log: Log,
  runId: string,
  problems: readonly RunProblem[],
): Promise<readonly RunProblem[]> {
  const unknown = new Set(problems.flatMap(unknownChannelOf))
  const answered = await readAnsweredChannels(db, runId)
  const { gone, back } = await recordChannelAnswers(db, { unknown, answered }, runId)
  for (const channelId of gone) log.warn('channel.gone', { channelId, runs: RUNS_UNTIL_GONE })
  for (const channelId of back) log.info('channel.back', { channelId })
  const left = problems.filter((problem) => !unknownChannelOf(problem).some((channelId) => gone.includes(channelId)))
  return [...left, ...gone.map(goneProblem)]
}

function unknownChannelOf({ code, partition }: RunProblem): readonly string[] {
  const channel = code === 'api.channelUnknown' && partition !== null ? parsePartition(partition)?.channel : undefined
  return channel === undefined ? [] : [channel]
}

function goneProblem(channelId: string): RunProblem {
  const message =
    `the service has not known channel ${channelId} in ${RUNS_UNTIL_GONE} runs in a row: it is gone, and later runs leave it ` +
    `out. Take it out of LIVEHOUSE_CHANNELS, or try it again with --channels ${channelId}.`
  return { stream: null, partition: `channel=${channelId}`, code: 'api.channelUnknown', message }
}
