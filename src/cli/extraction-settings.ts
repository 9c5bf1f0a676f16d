import type { ChannelSetting } from '../config/channel-setting.ts'
import { type AlertSettings, readAlertSettings } from '../config/read-alerts.ts'
import { readChannels, readChannelsIfAny } from '../config/read-channels.ts'
import {
  type DatabaseSettings,
  readDatabaseSettings,
  readHistoryFrom,
  readServiceSettings,
  readSettings,
  type ServiceSettings,
} from '../config.ts'
import type { Stream } from '../core/stream.ts'
import { parseWallTime, type WallTime } from '../core/wall-clock.ts'
import type { PlannedChannel } from '../pipeline/partitions.ts'
import { checkUsage } from './wrong-use.ts'
import type { CliContext } from './command.ts'
import { readChosenChannels } from './flags.ts'
import { plannedChannel } from './planned-channel.ts'

/** What a verb that reads from the service needs to know. */
export interface ExtractionSettings {
  readonly service: ServiceSettings
  readonly database: DatabaseSettings
  /** Every configured channel. */
  readonly configured: readonly ChannelSetting[]
  /** Those that `--channels` names; all without it. */
  readonly channels: readonly PlannedChannel[]
  readonly historyFrom: WallTime
  readonly alerts: AlertSettings
}

/**
 * Reads the settings for these streams; channels are needed unless only streams of the account are read.
 * @throws LivehouseError `config.invalid`, `usage.invalid`
 */
export function readExtractionSettings(
  { environment }: CliContext,
  verb: string,
  streams: readonly Stream[],
  chosenChannels: string | undefined,
): ExtractionSettings {
  const needsChannels = streams.some(({ partitionedBy }) => partitionedBy !== 'account')
  const settings = readSettings(environment, (source) => ({
    service: readServiceSettings(source),
    database: readDatabaseSettings(source),
    configured: needsChannels ? readChannels(source) : readChannelsIfAny(source),
    historyFrom: readHistoryFrom(source),
    alerts: readAlertSettings(source),
  }))
  const channels = checkUsage(verb, (refuse) => readChosenChannels(chosenChannels, settings.configured, refuse))
  return {
    ...settings,
    channels: channels.map(plannedChannel),
    historyFrom: parseWallTime(settings.historyFrom) ?? 0,
  }
}
