import { type ChannelSetting, type ExtractionSettings, toPlannedChannel } from '../app/settings.ts'
import { readAlertSettings } from '../config/read-alerts.ts'
import { readChannels, readChannelsIfAny } from '../config/read-channels.ts'
import { readDatabaseSettings, readHistoryFrom, readServiceSettings, readSettings } from '../config.ts'
import type { Stream } from '../core/stream.ts'
import { formatWallDate } from '../core/wall-clock.ts'
import type { CliContext } from './command.ts'
import { isFarAhead } from './flags.ts'

/**
 * Reads the settings for these streams. Channels are required, unless all streams belong to the account.
 * @param choose selects from the configured channels; all of them if not given
 * @throws LivehouseError `config.invalid`, and what `choose` throws
 */
export function readExtractionSettings(
  { environment, clock }: Pick<CliContext, 'environment' | 'clock'>,
  streams: readonly Stream[],
  choose: (configured: readonly ChannelSetting[]) => readonly ChannelSetting[] = (configured) => configured,
): ExtractionSettings {
  const needsChannels = streams.some(({ partitionedBy }) => partitionedBy !== 'account')
  const settings = readSettings(environment, (source) => {
    const service = readServiceSettings(source)
    const historyFrom = readHistoryFrom(source)
    const expected = 'it should be a day in the past: from it on everything is read'
    if (isFarAhead(historyFrom, clock.now(), service.timeZone))
      source.refuse(`LIVEHOUSE_HISTORY_FROM is "${formatWallDate(historyFrom)}"; ${expected}`)
    return {
      service,
      database: readDatabaseSettings(source),
      configured: needsChannels ? readChannels(source) : readChannelsIfAny(source),
      historyFrom,
      alerts: readAlertSettings(source),
    }
  })
  return { ...settings, channels: choose(settings.configured).map(toPlannedChannel) }
}
