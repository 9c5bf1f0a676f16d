import type { Job } from '../../core/define-job.ts'
import { type ChannelSetting, plannedChannel } from '../../app/settings.ts'
import type { Kysely } from 'kysely'
import { partitionKey } from '../../core/slice.ts'
import type { WallTime } from '../../core/wall-clock.ts'
import type { Database } from '../../store/database.ts'
import { partitionsOf, type PlannedChannel } from '../../sync/partitions.ts'
import type { ExpectedStream } from './read-job-causes.ts'
import { readChangedSince, readChannelList } from '../../ledger/channel-states.ts'
import type { ServiceDay } from '../../ledger/latest-readings.ts'
import { readQuestions } from '../../ledger/questionnaires.ts'
import { jobStreams } from '../../app/run-job.ts'

/**
 * What a job is to read each day, stream by stream; without channels, or without questionnaires, there is nothing of some.
 * Channels that are gone or over are not expected, nor those that no run has met yet, unless none has been met at all.
 */
export async function readExpectedParts(
  db: Kysely<Database>,
  job: Job,
  day: ServiceDay,
  configured: readonly ChannelSetting[],
): Promise<readonly ExpectedStream[]> {
  const chosen = configured.filter((channel) => isChosen(job, channel))
  const states = new Map((await readChannelList(db)).map(({ channelId, state }) => [channelId, state]))
  const isMet = chosen.some(({ channelId }) => states.has(channelId))
  const channels = chosen
    .filter(({ channelId }) => !isMet || states.get(channelId) === 'active')
    .map(plannedChannel)
    .filter((channel) => isOpen(channel, day.begin))
  const questions = await readQuestions(db, 'listed')
  const changed = await readChangedSince(db, day)
  return jobStreams(job).flatMap((stream): readonly ExpectedStream[] => {
    const { name, partitionedBy, isBudgeted = false } = stream
    const isAnyEnough = job.kind !== 'sync' || isBudgeted || (chosen.length === 0 && configured.length > 0)
    const parts = partitionsOf(stream, channels, (channelId) => questions.get(channelId) ?? []).map(({ partition }) => {
      const part = partitionKey(partition)
      const channel = `channel=${partition.channel}`
      return { part, isNew: changed.has(channel) || changed.has(part) }
    })
    // What is read a part at a time, or by a job that names channels which are not there, has no list of what a day brings.
    if (isAnyEnough && (partitionedBy !== 'channel/question' || questions.size > 0)) {
      return configured.length > 0 || partitionedBy === 'account' ? [{ stream: name, parts: 'any' }] : []
    }
    return parts.length > 0 ? [{ stream: name, parts }] : []
  })
}

function isChosen({ definition }: Job, { channelId, group }: ChannelSetting): boolean {
  const { channels = 'all' } = definition
  if (channels === 'all') return true
  return 'group' in channels ? group === channels.group : channels.includes(channelId)
}

function isOpen({ from, until }: PlannedChannel, begin: WallTime): boolean {
  return (from === undefined || from < begin) && (until === undefined || until > begin)
}
