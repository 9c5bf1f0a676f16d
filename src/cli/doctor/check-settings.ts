import type { ChannelSetting, AlertSettings, DatabaseSettings, ServiceSettings } from '../../app/settings.ts'
import { readAlertSettings } from '../../config/read-alerts.ts'
import { readChannelsIfAny } from '../../config/read-channels.ts'
import { readHttpSettings } from '../../config/read-http.ts'
import {
  type Environment,
  readDatabaseSettings,
  readGroup,
  readHistoryFrom,
  readJobsDir,
  readLogLevel,
  readServiceSettings,
  type SettingsReader,
} from '../../config.ts'
import { writersOf } from '../../config/setting-source.ts'
import { hasCode } from '../../core/errors.ts'
import { type Check, passed, skipped } from './check.ts'

/** What could be read of the settings, and what the doctor says of them. */
interface CheckedSettings {
  readonly checks: readonly Check[]
  readonly service: ServiceSettings | undefined
  readonly database: DatabaseSettings | undefined
  readonly channels: readonly ChannelSetting[]
}

/** Each group by itself, so that a mistake in one does not keep the others from being checked. */
export function checkSettings(environment: Environment): CheckedSettings {
  const service = checkGroup(environment, 'service settings', (source) => ({
    ...readServiceSettings(source),
    historyFrom: readHistoryFrom(source),
  }))
  const channels = checkGroup(environment, 'channels', readChannelsIfAny)
  const database = checkGroup(environment, 'database settings', readDatabaseSettings)
  const alerts = checkGroup(environment, 'alert settings', readAlertSettings)
  const page = checkGroup(environment, 'page settings', readHttpSettings)
  const jobs = checkGroup(environment, 'jobs folder', readJobsDir)
  const log = checkGroup(environment, 'log settings', readLogLevel)
  return {
    checks: [
      ...(service.problems ?? [passed('service settings', describeCredentials(service.value))]),
      ...(channels.problems ?? [describeChannels(channels.value)]),
      ...(database.problems ?? [passed('database settings', 'complete')]),
      ...(alerts.problems ?? [describeAlerts(alerts.value)]),
      ...checkWriters('.env'),
      ...(jobs.problems ?? checkWriters(jobs.value)),
      // Where serve listens and how much is logged is said where something is wrong with it.
      ...(page.problems ?? []),
      ...(log.problems ?? []),
    ],
    service: service.value,
    database: database.value,
    channels: channels.value ?? [],
  }
}

/** Who may change what livehouse runs or believes. */
function checkWriters(path: string): readonly Check[] {
  const writers = writersOf(path)
  if (writers === undefined) return []
  const seen = `${path} may be changed by ${writers === 'group' ? 'its group' : writers}`
  return [{ name: 'files', result: 'warning', seen, mend: `chmod go-w ${path}` }]
}

type Group<T> =
  | { readonly value: T; readonly problems: undefined }
  | { readonly value: undefined; readonly problems: readonly Check[] }

function checkGroup<T>(environment: Environment, name: string, read: SettingsReader<T>): Group<T> {
  try {
    return { value: readGroup(environment, read), problems: undefined }
  } catch (error) {
    if (!hasCode(error, 'config.invalid')) throw error
    const problems = error.details.problems.map((seen): Check => ({ name, result: 'failed', seen, mend: null }))
    return { value: undefined, problems }
  }
}

function describeCredentials({ apiToken, appId }: ServiceSettings): string {
  if (apiToken !== null && appId !== null)
    return 'complete: reading uses the fixed token, login tickets the fetched one'
  return apiToken === null ? 'complete: an app id with its secret' : 'complete: a fixed token'
}

function describeAlerts({ webhook, format, heartbeatUrl }: AlertSettings): Check {
  const heartbeat = heartbeatUrl === null ? '' : '; heartbeat after green jobs'
  if (webhook !== null) return passed('alert settings', `complete (${format})${heartbeat}; --alert sends a test`)
  return skipped('alert settings', `LIVEHOUSE_ALERT_WEBHOOK is not set: nobody is told of trouble${heartbeat}`)
}

function describeChannels(channels: readonly ChannelSetting[]): Check {
  if (channels.length > 0) return passed('channels', `${channels.length} configured`)
  return skipped('channels', 'LIVEHOUSE_CHANNELS is not set: only the manager streams can be read')
}
