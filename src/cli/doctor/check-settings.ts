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
import { settingNames, unknownSettings } from '../../config/setting-names.ts'
import { writersOf } from '../../config/setting-source.ts'
import { didYouMean } from '../../core/did-you-mean.ts'
import { hasCode } from '../../core/errors.ts'
import { passed, type ReportCheck } from './check.ts'

/** Each group by itself, so that a mistake in one does not keep the others from being checked. @returns those that are right */
export function checkSettings(environment: Environment, report: ReportCheck) {
  const check = <T>(name: string, read: SettingsReader<T>): T | undefined => {
    try {
      const settings = readGroup(environment, read)
      report(passed(name, 'complete'))
      return settings
    } catch (error) {
      if (!hasCode(error, 'config.invalid')) throw error
      for (const seen of error.details.problems) report({ name, result: 'failed', seen, mend: null })
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
  for (const path of ['.env', jobsFolder ?? []].flat()) checkWriters(path, report)
  for (const name of unknownSettings(environment)) {
    const seen = `${name} is no setting${didYouMean(name, settingNames)}`
    report({ name: 'settings', result: 'warning', seen, mend: null })
  }
  return { service, channels, database }
}

/** Who may change what livehouse runs or believes. */
function checkWriters(path: string, report: ReportCheck): void {
  const writers = writersOf(path)
  if (writers === undefined) return
  const seen = `${path} may be changed by ${writers === 'group' ? 'its group' : writers}`
  report({ name: 'files', result: 'warning', seen, mend: `chmod go-w ${path}` })
}
