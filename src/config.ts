import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { DatabaseSettings, ServiceSettings } from './app/settings.ts'
import { readBi } from './config/read-bi.ts'
import { readCredentials, readProxyUrl, readQueueUrl, readServiceUrl, readTarget } from './config/read-credentials.ts'
import {
  createSettingSource,
  describeOpenFile,
  type Environment,
  reasonOf,
  type SettingSource,
} from './config/setting-source.ts'
import { isDate, readChoice, readNumber, readValue } from './config/values.ts'
import { codeOf, LivehouseError } from './core/errors.ts'
import { programFolder } from './core/program-files.ts'
import { passwordsOf } from './core/secret-pattern.ts'
import { isTimeZone, parseWallTime, type WallTime } from './core/wall-clock.ts'

/** Reads a group of settings; the source collects the problems. */
export type SettingsReader<T> = (source: SettingSource) => T

/**
 * The process environment, with variables that it does not set taken from `.env` in the working folder.
 * @throws LivehouseError `config.invalid` when `.env` exists but cannot be read.
 */
export function readEnvironment(processEnv: Environment = process.env, cwd: string = process.cwd()): Environment {
  const isInProcess = (name: string) => [name, `${name}_FILE`].some((each) => Object.hasOwn(processEnv, each))
  const added = Object.entries(readEnvFile(resolve(cwd, '.env'))).filter(
    ([name]) => !isInProcess(name.replace(/_FILE$/, '')),
  )
  return { ...Object.fromEntries(added), ...processEnv }
}

/**
 * Reads the settings that a command needs:
 * `readSettings(environment, (source) => ({ service: readServiceSettings(source), channels: readChannels(source) }))`.
 * @throws LivehouseError `config.invalid` listing every problem.
 */
export function readSettings<T>(environment: Environment, read: SettingsReader<T>): T {
  return readGroup(environment, (source) => {
    const settings = read(source)
    // Every command writes a log.
    readLogLevel(source)
    return settings
  })
}

/** Like `readSettings`, but does not check the log level. @throws LivehouseError `config.invalid` */
export function readGroup<T>(environment: Environment, read: SettingsReader<T>): T {
  const source = createSettingSource(environment)
  const settings = read(source)
  const problems = source.problems()
  if (problems.length === 0) return settings
  const title =
    problems.length === 1 ? 'a setting is missing or wrong' : `${problems.length} settings are missing or wrong`
  throw new LivehouseError('config.invalid', title, { problems })
}

// 0 means no limit.
const rateBounds = { min: 0, max: 1_000_000, isInteger: false, unit: 'calls a second' }
const concurrencyBounds = { min: 1, max: 1000, isInteger: true, unit: 'calls' }
const budgetBounds = { min: 0, max: 100_000, isInteger: true, unit: 'calls a day' }
const percentBounds = { min: 0, max: 100, isInteger: false, unit: 'percent of the rows of a slice' }
const timeoutBounds = { min: 0.001, max: 3600, isInteger: false, unit: 'seconds' }

/** The address of the service, the credentials, and the limits on calls. */
export function readServiceSettings(source: SettingSource): ServiceSettings {
  if (!source.isSet('LIVEHOUSE_BASE_URL')) {
    source.refuse("LIVEHOUSE_BASE_URL is not set; it should be the service's address, such as https://api.example.com")
  }
  return {
    baseUrl: readServiceUrl(source, 'LIVEHOUSE_BASE_URL') ?? '',
    ...readCredentials(source),
    timeZone: readServiceTimeZone(source),
    maxCallsPerSecond: readNumber(source, 'LIVEHOUSE_MAX_CALLS_PER_SECOND', 20, rateBounds),
    concurrency: readNumber(source, 'LIVEHOUSE_CONCURRENCY', 16, concurrencyBounds),
    listParams: readChoice(source, 'LIVEHOUSE_LIST_PARAMS', ['query', 'body']),
    isListParamsGiven: source.isSet('LIVEHOUSE_LIST_PARAMS'),
    maxUnreadablePercent: readNumber(source, 'LIVEHOUSE_MAX_UNREADABLE_PERCENT', 10, percentBounds),
    ...readV1Budget(source),
    requestTimeoutMs: Math.ceil(readNumber(source, 'LIVEHOUSE_REQUEST_TIMEOUT', 30, timeoutBounds) * 1000),
    proxies: {
      http: readProxyUrl(source, 'HTTP_PROXY'),
      https: readProxyUrl(source, 'HTTPS_PROXY'),
      none: source.value('no_proxy') ?? source.value('NO_PROXY') ?? null,
    },
  }
}

/** For a verb that calls the service and stores the answers. */
export function readServiceAndDatabase(source: SettingSource) {
  return { service: readServiceSettings(source), database: readDatabaseSettings(source) }
}

/** For a verb that calls the service; the database is optional. */
export function readServiceAndAnyDatabase(source: SettingSource) {
  const database = source.isSet('DATABASE_URL') ? readDatabaseSettings(source) : undefined
  return { service: readServiceSettings(source), database }
}

/** The number of calls a day on version 1 of the watch records (API 4.6), per account or per channel. */
export function readV1Budget(source: SettingSource): Pick<ServiceSettings, 'v1Budget' | 'v1BudgetScope'> {
  return {
    v1Budget: readNumber(source, 'LIVEHOUSE_V1_BUDGET', 10, budgetBounds),
    v1BudgetScope: readChoice(source, 'LIVEHOUSE_V1_BUDGET_SCOPE', ['account', 'channel']),
  }
}

/** The IANA zone of the service's times and of its day. */
export function readServiceTimeZone(source: SettingSource): string {
  const rule = { fallback: 'Asia/Shanghai', expected: 'a time zone such as Asia/Shanghai, Europe/Brussels or UTC' }
  return readValue(source, 'LIVEHOUSE_TIMEZONE', rule, (given) => (isTimeZone(given) ? given : undefined))
}

/** The warehouse database, and whether commands apply pending migrations. */
export function readDatabaseSettings(source: SettingSource): DatabaseSettings {
  return {
    target: readTarget(source),
    queueUrl: readQueueUrl(source),
    dataDir: readDataDir(source),
    isAutoMigrated: readChoice(source, 'LIVEHOUSE_AUTO_MIGRATE', ['1', '0']) === '1',
    bi: readBi(source),
  }
}

/** The data directory of the embedded PostgreSQL, as an absolute path. */
export function readDataDir(source: SettingSource): string {
  return resolve(source.value('LIVEHOUSE_DATA_DIR') ?? '.livehouse')
}

/**
 * The folder of job files, as an absolute path. When not set: `jobs` in the working folder if it has job files, else
 * the folder that ships with livehouse. Root runs another user's job files only if the setting names their folder.
 */
export function readJobsDir(source: SettingSource): string {
  const given = source.value('LIVEHOUSE_JOBS_DIR')
  const local = resolve('jobs')
  const isFolder = () => statSync(local, { throwIfNoEntry: false })?.isDirectory() === true
  const hasJobs = () => isFolder() && readdirSync(local).some((file) => /\.[mc]?[jt]s$/.test(file))
  const shipped = join(programFolder, 'jobs')
  const folder = given !== undefined ? resolve(given) : hasJobs() ? local : shipped
  const isForeign = given === undefined && folder !== shipped && process.getuid?.() === 0 && statSync(folder).uid !== 0
  const problem = isForeign
    ? `${folder} belongs to another user, and livehouse runs as root; to run its files, set LIVEHOUSE_JOBS_DIR to it`
    : describeOpenFile(folder)
  if (problem !== undefined) source.refuse(problem)
  return folder
}

/** The earliest time that a first sync reads, on the service's wall clock. */
export function readHistoryFrom(source: SettingSource): WallTime {
  const rule = { fallback: parseWallTime('2015-01-01') ?? 0, expected: 'a date that exists, written 2015-01-01' }
  return readValue(source, 'LIVEHOUSE_HISTORY_FROM', rule, (given) =>
    isDate(given) ? parseWallTime(given) : undefined,
  )
}

/** A log level of pino. */
export function readLogLevel(source: SettingSource) {
  return readChoice(source, 'LOG_LEVEL', ['info', 'trace', 'debug', 'warn', 'error', 'fatal', 'silent'])
}

/** Every secret in the settings, for the logger to hide. */
export function readSecrets(source: SettingSource): readonly string[] {
  const secret = ['APP_SECRET', 'API_TOKEN', 'ALERT_SECRET', 'HTTP_TOKEN', 'ALERT_WEBHOOK', 'HEARTBEAT_URL']
  const urls = ['DATABASE_URL', 'LIVEHOUSE_QUEUE_URL', 'HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy']
  return [
    ...secret.flatMap((name) => source.value(`LIVEHOUSE_${name}`) ?? []),
    ...urls.flatMap((name) => passwordsOf(source.value(name) ?? '')),
  ]
}

function readEnvFile(path: string): Environment {
  const problem = describeOpenFile(path)
  if (problem !== undefined)
    throw new LivehouseError('config.invalid', 'the settings cannot be read', { problems: [problem] })
  try {
    const text = readFileSync(path, 'utf8')
    if (text.includes('\0')) throw new Error('it is not text in UTF-8')
    // `trim` removes a byte order mark, which would become part of the first name.
    return parseEnv(text.trim())
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {}
    throw new LivehouseError('config.invalid', 'the settings cannot be read', {
      problems: [`${path} cannot be read (${reasonOf(error)}); it should be a file of NAME=value lines, or not exist`],
    })
  }
}
