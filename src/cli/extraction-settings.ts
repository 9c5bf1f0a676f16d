import { type ChannelSetting, type ExtractionSettings, plannedChannel } from '../app/settings.ts'
import { readDatabaseSettings, readHistoryFrom, readServiceSettings, readSettings } from '../config.ts'
import { readAlertSettings } from '../config/read-alerts.ts'
import { readChannels, readChannelsIfAny } from '../config/read-channels.ts'
import type { Stream } from '../core/stream.ts'
import { parseWallTime } from '../core/wall-clock.ts'
import type { CliContext } from './command.ts'

/**
 * Reads the settings for these streams; channels are needed unless only streams of the account are read.
 * @param choose which of the configured channels are meant; all of them when not given
 * @throws LivehouseError `config.invalid`, and what `choose` throws
 */
export function readExtractionSettings(
  { environment }: Pick<CliContext, 'environment'>,
  streams: readonly Stream[],
  choose: (configured: readonly ChannelSetting[]) => readonly ChannelSetting[] = (configured) => configured,
): ExtractionSettings {
  const needsChannels = streams.some(({ partitionedBy }) => partitionedBy !== 'account')
  const settings = readSettings(environment, (source) => ({
    service: readServiceSettings(source),
    database: readDatabaseSettings(source),
    configured: needsChannels ? readChannels(source) : readChannelsIfAny(source),
    historyFrom: readHistoryFrom(source),
    alerts: readAlertSettings(source),
  }))
  return {
    ...settings,
    channels: choose(settings.configured).map(plannedChannel),
    historyFrom: parseWallTime(settings.historyFrom) ?? 0,
  }
}
