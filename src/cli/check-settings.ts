import type { Report } from '../app/doctor/check.ts'
import { readAlertSettings } from '../config/read-alerts.ts'
import { readChannelsIfAny } from '../config/read-channels.ts'
import { readHttpSettings } from '../config/read-http.ts'
import { describeUnknownSettings, type Environment, othersWhoMay } from '../config/setting-source.ts'
import {
  readDatabaseSettings,
  readGroup,
  readHistoryFrom,
  readJobsDir,
  readLogLevel,
  readServiceSettings,
  type SettingsReader,
} from '../config.ts'
import { hasCode } from '../core/errors.ts'

/** Checks each group by itself, so that a mistake in one does not hide others. @returns the valid groups */
export function checkSettings(environment: Environment, report: Report) {
  const check = <T>(name: string, read: SettingsReader<T>): T | undefined => {
    try {
      const settings = readGroup(environment, read)
      if (!Array.isArray(settings) || settings.length > 0) report(name, 'ok', 'complete')
      else report(name, 'warning', 'LIVEHOUSE_CHANNELS is not set: sync reads the manager streams alone, by --streams')
      return settings
    } catch (error) {
      if (!hasCode(error, 'config.invalid')) throw error
      for (const problem of error.details.problems) report(name, 'failed', problem)
      return undefined
    }
  }
  const service = check('service settings', (source) => ({
    ...readServiceSettings(source),
    historyFrom: readHistoryFrom(source),
  }))
  const channels = check('channels', readChannelsIfAny)
  const database = check('database settings', readDatabaseSettings)
  const jobsFolder = check('serve settings', (source) => {
    readAlertSettings(source)
    readHttpSettings(source)
    readLogLevel(source)
    return readJobsDir(source)
  })
  for (const path of ['.env', jobsFolder ?? []].flat()) {
    const writers = othersWhoMay('write', path)
    if (writers !== undefined) report('files', 'warning', `${path} may be changed by ${writers}`, `chmod go-w ${path}`)
  }
  if (othersWhoMay('read', '.env') === 'everybody')
    report('files', 'warning', '.env may be read by everybody', 'chmod o-r .env')
  for (const problem of describeUnknownSettings(environment)) report('settings', 'warning', problem)
  return { service, channels, database }
}
