import type { AppContext } from './context.ts'
import type { ChannelSetting } from '../config/channel-setting.ts'
import { LivehouseError } from '../core/errors.ts'
import type { Stream } from '../core/stream.ts'
import type { Job } from '../scheduler/job.ts'
import { findStream, streams } from '../streams/registry.ts'
import { type ExtractionSettings, readExtractionSettings } from './extraction-settings.ts'

/**
 * The settings for a run of a job, with the channels that it is for. They are read anew for each run: an edited list of channels
 * holds from the next one on. @throws config.invalid, also for channels and streams of the job that there are not
 */
export function readJobSettings(context: AppContext, job: Job): ExtractionSettings {
  return readExtractionSettings(context, jobStreams(job), (configured) => chooseChannels(job, configured))
}

function chooseChannels({ name, definition }: Job, configured: readonly ChannelSetting[]): readonly ChannelSetting[] {
  const { channels = 'all' } = definition
  if (channels === 'all') return configured
  if ('group' in channels) {
    const chosen = configured.filter(({ group }) => group === channels.group)
    if (chosen.length > 0) return chosen
    const groups = new Set(configured.flatMap(({ group }) => group ?? []))
    const known = groups.size === 0 ? 'none has a group' : `the groups are ${[...groups].join(', ')}`
    throw refused(name, [`channels names the group ${JSON.stringify(channels.group)}, and no channel has it; ${known}`])
  }
  const ids = new Set(configured.map(({ channelId }) => channelId))
  const unknown = channels.filter((id) => !ids.has(id))
  if (unknown.length > 0) {
    throw refused(
      name,
      unknown.map((id) => `channels names ${JSON.stringify(id)}, which is not among LIVEHOUSE_CHANNELS`),
    )
  }
  return configured.filter(({ channelId }) => channels.includes(channelId))
}

function refused(name: string, problems: readonly string[]): LivehouseError<'config.invalid'> {
  const told = problems.map((problem) => `job ${name}: ${problem}`)
  return new LivehouseError('config.invalid', 'a job does not fit the settings', { problems: told })
}

/** The streams that a job reads: those of its command where it names none. Signups bring their questionnaires along. */
export function jobStreams({ kind, definition }: Job): readonly Stream[] {
  const named = definition.streams?.flatMap((name) => findStream(name) ?? [])
  const chosen = named ?? streams.filter(({ isTimeFiltered }) => kind !== 'backfill' || isTimeFiltered)
  const questionnaires = findStream('questionnaires')
  const isMissing = !chosen.some(({ name }) => name === 'questionnaires')
  return isMissing && questionnaires && chosen.some(({ name }) => name === 'signups')
    ? [questionnaires, ...chosen]
    : chosen
}
