import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSettingSource, type Environment } from '../src/config/setting-source.ts'
import {
  readDatabaseSettings,
  readDataDir,
  readEnvironment,
  readHistoryFrom,
  readLogLevel,
  readSecrets,
  readServiceSettings,
  readSettings,
  type SettingsReader,
} from '../src/config.ts'
import { createTemporaryFile, createTemporaryFolder } from './helpers/temporary-folder.ts'

const service = { LIVEHOUSE_BASE_URL: 'https://api.example.com', LIVEHOUSE_API_TOKEN: 'tok-123' }

function problemsOf<T>(environment: Environment, read: SettingsReader<T>): readonly string[] {
  const source = createSettingSource(environment)
  read(source)
  return source.problems()
}

test('.env supplies what the process does not set, in either form; it may be missing, but not unreadable', () => {
  const path = createTemporaryFile('.env', '\u{feff}A=file\n# settings\nB="two words"\nC=file\nD_FILE=/from/file\n')
  const environment = readEnvironment({ A: 'process', C_FILE: '/c', D: 'process' }, join(path, '..'))
  expect(environment).toEqual({ A: 'process', B: 'two words', C_FILE: '/c', D: 'process' })
  const folder = createTemporaryFolder('config')
  expect(readEnvironment({ A: '1' }, folder)).toEqual({ A: '1' })
  mkdirSync(join(folder, '.env'))
  expect(() => readEnvironment({}, folder)).toThrow(expect.objectContaining({ code: 'config.invalid' }))
})

test('service settings have the defaults of the contract', () => {
  expect(readSettings(service, readServiceSettings)).toEqual({
    baseUrl: 'https://api.example.com',
    authUrl: null,
    appId: null,
    appSecret: null,
    apiToken: 'tok-123',
    timeZone: 'Asia/Shanghai',
    maxCallsPerSecond: 20,
    concurrency: 16,
    listParams: 'query',
    isListParamsGiven: false,
    maxUnreadablePercent: 10,
    v1Budget: 10,
    v1BudgetScope: 'account',
    requestTimeoutMs: 30_000,
    proxies: { http: null, https: null, none: null },
  })
})

test('every service setting is read', () => {
  const proxies = { http: 'http://lower:1', https: 'http://me:pw@proxy:3128', none: 'localhost' }
  const cases: readonly [Environment, object][] = [
    [{ LIVEHOUSE_BASE_URL: 'http://127.0.0.1:8080/api/' }, { baseUrl: 'http://127.0.0.1:8080/api' }],
    [{ LIVEHOUSE_AUTH_URL: 'http://localhost:8080' }, { authUrl: 'http://localhost:8080' }],
    [{ LIVEHOUSE_APP_ID: ' 7 ' }, { appId: '7' }],
    [{ LIVEHOUSE_APP_SECRET: 's3cret' }, { appSecret: 's3cret', apiToken: null }],
    [{ LIVEHOUSE_TIMEZONE: 'UTC' }, { timeZone: 'UTC' }],
    [{ LIVEHOUSE_MAX_CALLS_PER_SECOND: '0.5' }, { maxCallsPerSecond: 0.5 }],
    [{ LIVEHOUSE_CONCURRENCY: '1000' }, { concurrency: 1000 }],
    [{ LIVEHOUSE_LIST_PARAMS: 'body' }, { listParams: 'body', isListParamsGiven: true }],
    [{ LIVEHOUSE_MAX_UNREADABLE_PERCENT: '33.3' }, { maxUnreadablePercent: 33.3 }],
    [{ LIVEHOUSE_V1_BUDGET: '0' }, { v1Budget: 0 }],
    [{ LIVEHOUSE_V1_BUDGET_SCOPE: 'channel' }, { v1BudgetScope: 'channel' }],
    [{ LIVEHOUSE_REQUEST_TIMEOUT: '2.5' }, { requestTimeoutMs: 2500 }],
    [{ HTTP_PROXY: 'http://upper:1', http_proxy: proxies.http, HTTPS_PROXY: proxies.https }, { proxies }],
    [{ NO_PROXY: 'localhost' }, {}],
  ]
  const [environment, expected] = [0, 1].map((side) => Object.assign({}, ...cases.map((pair) => pair[side])))
  expect(readSettings(environment, readServiceSettings)).toEqual(expected)
})

test.each([
  ['LIVEHOUSE_BASE_URL', '', 'LIVEHOUSE_BASE_URL is not set; it should be'],
  ['LIVEHOUSE_BASE_URL', 'api.example.com', 'is "api.example.com", which is not a bare http or https URL'],
  ['LIVEHOUSE_BASE_URL', 'ftp://h', 'is "ftp://h", which is not a bare http or https URL'],
  ['LIVEHOUSE_BASE_URL', 'https://h/?a=1', '(not shown) is not a bare http or https URL; it should be one such as'],
  ['LIVEHOUSE_BASE_URL', 'https://h/#x', '(not shown) is not a bare http or https URL'],
  ['LIVEHOUSE_BASE_URL', 'https://me:hush@h', 'without a user name, a password, ? and #'],
  ['LIVEHOUSE_BASE_URL', 'http://api.example.com', 'plain http to another host; it should be https'],
  ['LIVEHOUSE_BASE_URL', 'http://127.evil.example', 'plain http to another host'],
  // Node reads it as eight hours ahead, Postgres as eight hours behind.
  ['LIVEHOUSE_TIMEZONE', '+08:00', 'is "+08:00"; it should be a time zone such as Asia/Shanghai'],
  ['LIVEHOUSE_TIMEZONE', 'Shanghai', 'is "Shanghai"; it should be a time zone such as Asia/Shanghai'],
  // Postgres applies no summer time under this name.
  ['LIVEHOUSE_TIMEZONE', 'cet', 'is "cet"; it should be a time zone such as Asia/Shanghai, Europe/Brussels or UTC'],
  ['LIVEHOUSE_ALLOW_HTTP', 'yes', 'is "yes"; it should be 0 or 1'],
  ['LIVEHOUSE_MAX_CALLS_PER_SECOND', '-1', 'is "-1"; it should be a number of calls a second from 0 to 1000000'],
  ['LIVEHOUSE_MAX_CALLS_PER_SECOND', 'Infinity', 'is "Infinity"; it should be'],
  ['LIVEHOUSE_CONCURRENCY', '1001', 'is "1001"; it should be a whole number of calls from 1'],
  ['LIVEHOUSE_CONCURRENCY', '0', 'is "0"; it should be a whole number of calls from 1 to 1000'],
  ['LIVEHOUSE_CONCURRENCY', '1.5', 'is "1.5"; it should be a whole number of calls from 1'],
  ['LIVEHOUSE_LIST_PARAMS', 'header', 'is "header"; it should be query or body'],
  ['LIVEHOUSE_V1_BUDGET_SCOPE', 'user', 'is "user"; it should be account or channel'],
  ['LIVEHOUSE_REQUEST_TIMEOUT', '0', 'is "0"; it should be a number of seconds from 0.001 to 3600'],
  ['LIVEHOUSE_API_TOKEN', 'Bearer hush', '(not shown) is not valid; it should be the bare token, without a space'],
  ['LIVEHOUSE_API_TOKEN', '', 'it should be a token, or LIVEHOUSE_APP_ID with LIVEHOUSE_APP_SECRET'],
  ['LIVEHOUSE_APP_SECRET', 'hush', 'LIVEHOUSE_APP_ID is not set, but LIVEHOUSE_APP_SECRET is'],
  ['HTTPS_PROXY', 'me:hush@proxy:3128', 'HTTPS_PROXY (not shown) is not valid; it should be an http or https URL'],
])('%s=%s is a problem', (name, value, problem) => {
  const problems = problemsOf({ ...service, [name]: value }, readServiceSettings)
  expect(problems).toEqual([expect.stringContaining(problem)])
  expect(problems[0]).toContain(name)
  expect(problems.join()).not.toContain('hush')
})

test('plain http is accepted for loopback hosts, and for others if it is allowed', () => {
  for (const url of ['http://localhost:1', 'http://127.9.9.9', 'http://[::1]:8080'])
    expect(problemsOf({ ...service, LIVEHOUSE_BASE_URL: url }, readServiceSettings)).toEqual([])
  const allowed = { ...service, LIVEHOUSE_BASE_URL: 'http://api.example.com', LIVEHOUSE_ALLOW_HTTP: '1' }
  expect(problemsOf(allowed, readServiceSettings)).toEqual([])
  expect(problemsOf({ ...allowed, LIVEHOUSE_ALLOW_HTTP: 'yes' }, readServiceSettings)).toEqual([
    'LIVEHOUSE_ALLOW_HTTP is "yes"; it should be 0 or 1',
    expect.stringContaining('plain http to another host'),
  ])
})

test('an app id needs its secret and the auth URL', () => {
  expect(problemsOf({ ...service, LIVEHOUSE_APP_ID: '7' }, readServiceSettings)).toEqual([
    expect.stringContaining('LIVEHOUSE_APP_SECRET is not set, but LIVEHOUSE_APP_ID is'),
    expect.stringContaining('LIVEHOUSE_AUTH_URL is not set, but LIVEHOUSE_APP_ID is'),
  ])
})

test('the database is a Postgres URL, rewritten so that the driver does not warn, or the embedded one', () => {
  const DATABASE_URL = 'postgres://me:pw@db:5432/live@home?sslmode=require'
  expect(readSettings({ DATABASE_URL, LIVEHOUSE_DATA_DIR: '/data' }, readDatabaseSettings)).toEqual({
    target: { kind: 'url', url: 'postgres://me:pw@db:5432/live@home?sslmode=verify-full' },
    dataDir: '/data',
    isAutoMigrated: true,
  })
  const embedded = { DATABASE_URL: 'embedded', LIVEHOUSE_AUTO_MIGRATE: '0' }
  const read = readSettings(embedded, readDatabaseSettings)
  expect(read).toMatchObject({ target: { kind: 'embedded' }, isAutoMigrated: false })
  expect(readSettings({}, readDataDir)).toBe(join(process.cwd(), '.livehouse'))
})

test.each([
  ['', 'DATABASE_URL is not set; it should be a Postgres URL'],
  ['mysql://me:hush@db/x', 'DATABASE_URL (not shown) is not valid; it should be a Postgres URL'],
  ...['db/a%b', 'd%b/x'].map((place) => [`postgres://me:hush@${place}`, '%25 for a %']),
  ...['#', '/', '?'].map((mark) => [`postgres://me:hush@ed${mark}hush:x@db/x`, 'with %40 for an @']),
])('the database %j is a problem that names both alternatives', (url, problem) => {
  const problems = problemsOf({ DATABASE_URL: url }, readDatabaseSettings)
  expect(problems).toEqual([expect.stringContaining(problem)])
  expect(problems[0]).toContain('or the word embedded')
  expect(problems[0]).not.toContain('hush')
})

test('history and log level have the defaults of the contract', () => {
  expect(readSettings({}, readHistoryFrom)).toBe(Date.parse('2015-01-01') / 1000)
  expect(problemsOf({ LIVEHOUSE_HISTORY_FROM: '2025-02-29' }, readHistoryFrom)).toEqual([
    expect.stringMatching(/^LIVEHOUSE_HISTORY_FROM is "2025-02-29"; it should be /),
  ])
  expect(readSettings({}, readLogLevel)).toBe('info')
})

test('every secret is given to the logger, even if other settings are wrong', () => {
  const environment = {
    LIVEHOUSE_APP_SECRET_FILE: createTemporaryFile('secret', 's-app\n'),
    LIVEHOUSE_API_TOKEN: 's token',
    DATABASE_URL: 'postgres://me:s%40db@db/x',
    HTTPS_PROXY: 'http://me:s-proxy@proxy:1',
    LIVEHOUSE_ALERT_SECRET: 's-alert',
    LIVEHOUSE_HTTP_TOKEN: 's-page',
    LIVEHOUSE_ALERT_WEBHOOK: 'https://robot/s-key',
    LIVEHOUSE_HEARTBEAT_URL: 'https://beat/s-uuid',
  }
  const addresses = ['https://robot/s-key', 'https://beat/s-uuid']
  const secrets = ['s-app', 's token', 's@db', 's-proxy', 's-alert', 's-page', ...addresses]
  expect(readSettings(environment, readSecrets)).toEqual(expect.arrayContaining(secrets))
})
