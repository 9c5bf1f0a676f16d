import type { AppContext } from './context.ts'
import {
  type DatabaseSettings,
  readDatabaseSettings,
  readHistoryFrom,
  readServiceSettings,
  readSettings,
  type ServiceSettings,
} from '../config.ts'
import type { ChannelSetting } from '../config/channel-setting.ts'
import { type AlertSettings, readAlertSettings } from '../config/read-alerts.ts'
import { readChannels, readChannelsIfAny } from '../config/read-channels.ts'
import type { Stream } from '../core/stream.ts'
import { DAY, parseWallTime, type WallTime } from '../core/wall-clock.ts'
import type { PlannedChannel } from '../sync/partitions.ts'

/** What a verb that reads from the service needs to know. */
export interface ExtractionSettings {
  readonly service: ServiceSettings
  readonly database: DatabaseSettings
  /** Every configured channel. */
  readonly configured: readonly ChannelSetting[]
  /** Those that are meant. */
  readonly channels: readonly PlannedChannel[]
  readonly historyFrom: WallTime
  readonly alerts: AlertSettings
}

/**
 * Reads the settings for these streams; channels are needed unless only streams of the account are read.
 * @param choose which of the configured channels are meant; all of them when not given
 * @throws LivehouseError `config.invalid`, and what `choose` throws
 */
export function readExtractionSettings(
  { environment }: AppContext,
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

/** A configured channel as the planner takes it: from the start of the day `from` to the end of the day `until`. */
export function plannedChannel({ channelId, from, until }: ChannelSetting): PlannedChannel {
  return {
    channelId,
    from: from === null ? undefined : parseWallTime(from),
    until: until === null ? undefined : (parseWallTime(until) ?? 0) + DAY,
  }
}
