import type { ChannelSetting } from '../../config/channel-setting.ts'
import { LivehouseError } from '../../core/errors.ts'
import type { Job } from '../../scheduler/job.ts'
import type { CliContext } from '../command.ts'
import { type ExtractionSettings, readExtractionSettings } from '../extraction-settings.ts'
import { jobStreams } from './job-streams.ts'

/**
 * The settings for a run of a job, with the channels that it is for. They are read anew for each run: an edited list of channels
 * holds from the next one on. @throws config.invalid, also for channels and streams of the job that there are not
 */
export function readJobSettings(context: CliContext, job: Job): ExtractionSettings {
  const settings = readExtractionSettings(context, 'run', jobStreams(job), undefined)
  const wanted = new Set(chooseChannels(job, settings.configured).map(({ channelId }) => channelId))
  return { ...settings, channels: settings.channels.filter(({ channelId }) => wanted.has(channelId)) }
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
