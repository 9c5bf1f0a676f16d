import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { migrateDown } from '../../src/bi/publish/migrate-down.ts'
import { doctor } from '../../src/cli/doctor.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { claimSource } from '../../src/ledger/source.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { startEmulatedService } from '../helpers/emulated-service.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { fieldValue, html, refusal } from '../helpers/fault-effects.ts'
import { first, firstChannel } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { isRoot } from '../helpers/operating-system.ts'
import { createTestDatabase, databaseUrl } from '../helpers/postgres.ts'
import { credentialsOf } from '../helpers/run-verb.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'
import { createTestRole } from '../helpers/test-role.ts'
import { withParameters } from '../helpers/with-parameters.ts'

const launcher = join(import.meta.dirname, '..', '..', 'src', 'cli.ts')
const service = ofTest(startEmulatedService)
const database = ofTest(createTestDatabase)
const settings = ({ emulator } = service) => ({
  ...credentialsOf(emulator),
  LIVEHOUSE_CHANNELS: emulator.channelIds.join(','),
  DATABASE_URL: database.url,
})
const urls = (url: string) => ({ DATABASE_URL: url, LIVEHOUSE_QUEUE_URL: url })

const results: Readonly<Record<string, string>> = { '✓': 'ok', '✗': 'failed', '!': 'warning', '–': 'skipped' }

/** Runs doctor, asserts that its exit code matches its checks, and gives the checks by name. */
async function examine(environment: Readonly<Record<string, string>>, clock: Clock = systemClock) {
  const { context, printed } = createTestContext({ environment, clock })
  const code = await doctor.run(context, [])
  const checks = printed.flatMap((line, index) => {
    const [, sign = '', name = '', seen = ''] = /^(\S) (.{20}) (.*)$/.exec(line) ?? []
    const [, repair] = /^ +→ (.*)$/.exec(printed[index + 1] ?? '') ?? []
    return sign === '' ? [] : [{ name: name.trimEnd(), result: results[sign], seen, repair }]
  })
  const failed = checks.filter(({ result }) => result === 'failed')
  expect(code).toBe(failed.length > 0 ? 1 : 0)
  for (const secret of ['emulator-secret', 'emulator-token', 'hush']) expect(printed.join()).not.toContain(secret)
  return {
    failed: failed.map(({ name }) => name),
    byName: new Map(checks.map((check) => [check.name, check])),
    skipped: checks.filter(({ result }) => result === 'skipped').map(({ name }) => name),
  }
}

test('with valid settings no check fails, and the database is not changed', async () => {
  await using empty = await createTestDatabase({ isMigrated: false })
  const { questionnaires } = firstChannel(service.emulator)
  questionnaires.replace(first(questionnaires.rows), { ...first(questionnaires.rows), questionId: '12' })
  service.emulator.faults.push({ effect: fieldValue('question_id', 12), endpoint: 'getQuestionList' })
  const { failed, skipped, byName } = await examine({ ...settings(), DATABASE_URL: empty.url })
  expect(failed).toEqual([])
  expect(skipped).toEqual(['4.6 userRecords'])
  expect(byName.get('bearer token')).toMatchObject({ result: 'ok', seen: 'accepted' })
  expect(byName.get('4.7 visitorList')?.seen).toBe('answers, 60 in all')
  expect(byName.get('schema')?.seen).toBe('does not exist yet; the next sync brings it up to date')
  expect(service.emulator.calls.map(({ endpoint }) => endpoint)).not.toContain('userRecords')
  expect((await sql`select from pg_namespace where nspname like 'livehouse%'`.execute(empty.db)).rows).toEqual([])
})

test('each wrong setting is named, and everything else is checked', async () => {
  const partial = await examine({ LIVEHOUSE_CONCURRENCY: 'many' })
  expect(partial.failed).toEqual(['service settings', 'service settings', 'service settings', 'database settings'])
  expect([...partial.byName.keys()]).toEqual(['service settings', 'channels', 'database settings', 'serve settings'])
  expect(partial.byName.get('channels')).toMatchObject({ result: 'warning', seen: expect.stringContaining('--stream') })

  const wrong = { LOG_LEVEL: 'loud', LIVEHOUSE_ALERT_FORMAT: 'bogus', LIVEHOUSE_HTTP: '0.0.0.0:8787' }
  const { failed, byName } = await examine({ ...settings(), ...wrong, LIVEHOUSE_MASC: '1' })
  expect(new Set(failed)).toEqual(new Set(['serve settings']))
  expect(failed.length).toBeGreaterThan(2)
  expect(byName.get('schema')?.result).toBe('ok')
  expect(byName.get('settings')?.seen).toBe('LIVEHOUSE_MASC is not a setting; did you mean LIVEHOUSE_MASK?')
})

test('a .env file or jobs folder that others may change, and a .env file that everybody may read, is named', () => {
  const cwd = createTemporaryFolder('open-files')
  mkdirSync(join(cwd, 'jobs'))
  writeFileSync(join(cwd, '.env'), 'LIVEHOUSE_JOBS_DIR=jobs')
  const inspect = (env: number, jobs: number) => {
    chmodSync(join(cwd, '.env'), env)
    chmodSync(join(cwd, 'jobs'), jobs)
    const { stdout, stderr } = spawnSync(process.execPath, [launcher, 'doctor'], { cwd, env: {}, encoding: 'utf8' })
    return (stdout + stderr).replaceAll(`${cwd}/`, '').match(/\S+ may be (?:changed|read) by [^;\n]+|chmod .*/g)
  }
  expect(inspect(0o600, 0o700)).toBeNull()
  const ofGroup = ['.env', 'jobs'].flatMap((name) => [`${name} may be changed by its group`, `chmod go-w ${name}`])
  expect(inspect(0o660, 0o770)).toEqual(ofGroup)
  const [who, right] = isRoot ? ['everybody, and livehouse runs as root', 'o-w'] : ['everybody', 'go-w']
  expect(inspect(0o644, 0o700)).toEqual(['.env may be read by everybody', 'chmod o-r .env'])
  expect(inspect(0o662, 0o700)).toEqual([`.env may be changed by ${who}`, `chmod ${right} .env`])
  expect(inspect(0o600, 0o777)).toEqual([`jobs may be changed by ${who}`, `chmod ${right} jobs`])
})

test('database and queue are checked even if the service is unreachable, and the other way round', async () => {
  const nowhere = 'postgres://nobody:hush@127.0.0.1:1/none'
  const first = await examine({ ...settings(), LIVEHOUSE_BASE_URL: 'http://127.0.0.1:1', LIVEHOUSE_QUEUE_URL: nowhere })
  expect(first.failed).toEqual(['base URL', 'queue'])
  expect(first.byName.get('base URL')?.repair).toContain('check the address')
  expect(first.skipped).toContain('4.7 visitorList')
  expect(first.byName.get('rights')?.result).toBe('ok')

  const second = await examine({ ...settings(), DATABASE_URL: nowhere })
  expect(second.failed).toEqual(['database'])
  expect(second.byName.get('4.12 giftRunning')?.result).toBe('ok')
})

test('a wrong secret and a wrong token are told apart from a service that is down', async () => {
  const wrongSecret = await examine({ ...settings(), LIVEHOUSE_APP_SECRET: 'hush' })
  expect(wrongSecret.failed).toEqual(['4.1 token'])
  expect(wrongSecret.skipped).toContain('4.9 managers')
  expect(wrongSecret.byName.get('4.1 token')?.seen).toContain('check LIVEHOUSE_APP_ID and LIVEHOUSE_APP_SECRET')
  const wrongToken = await examine({ ...settings(), LIVEHOUSE_API_TOKEN: 'hush' })
  expect(wrongToken.failed).toEqual(['4.9 managers'])
  expect(wrongToken.byName.get('4.9 managers')?.seen).toContain('check LIVEHOUSE_API_TOKEN')
  expect(wrongToken.skipped).toContain('4.7 visitorList')
  expect(wrongToken.byName.get('4.1 token')?.result).toBe('ok')
})

test('each endpoint fails on its own and says what to do', async () => {
  service.emulator.faults.push(
    { effect: refusal(403002), endpoint: 'giftRunning' },
    { effect: refusal(404002), endpoint: 'visitorList' },
    { effect: html(200), endpoint: 'getQuestionList' },
  )
  const report = await examine(settings())
  expect(report.failed).toEqual(['4.7 visitorList', '4.12 giftRunning', '4.10 getQuestionList'])
  expect(report.byName.get('4.12 giftRunning')?.repair).toContain('to open this interface')
  expect(report.byName.get('4.7 visitorList')?.repair).toContain('LIVEHOUSE_CHANNELS')
  expect(report.byName.get('4.10 getQuestionList')?.repair).toContain('not of a web page')
  expect(report.skipped).toContain('4.11 signupRecord')
  expect(report.byName.get('4.5 userRecordList')?.result).toBe('ok')
})

test('a service that refuses everything for the moment is reported within a minute and 45 calls', async () => {
  const clock = createFakeClock({ isAutomatic: true })
  service.emulator.faults.push({ effect: refusal(429001) })
  const startMs = clock.now()
  const { failed } = await examine({ ...settings(), DATABASE_URL: '' }, clock)
  expect(failed).toContain('4.1 token')
  expect([clock.now() - startMs < 60_000, service.emulator.calls.length < 45]).toEqual([true, true])
})

test('a clock that is 90 seconds off is a warning, not a failure', async () => {
  await using onTime = await startEmulatedService({ clock: systemClock })
  expect((await examine(settings(onTime))).byName.get('clock')?.seen).toBe("the same as the service's")
  let waitedMs = 0
  const sleep: Clock['sleep'] = async (ms, signal) => {
    waitedMs += ms
    await systemClock.sleep(ms, signal)
  }
  const { failed, byName } = await examine(settings(onTime), { ...systemClock, now: () => Date.now() - 90_000, sleep })
  expect(failed).toEqual([])
  expect(waitedMs).toBeLessThan(30_000)
  expect(byName.get('clock')).toMatchObject({ result: 'warning', seen: expect.stringMatching(/^\d\d s behind/) })
})

test('a user without rights reads which are missing and what a DBA must run, with a schema or without', async () => {
  await using role = await createTestRole()
  await using empty = await createTestDatabase({ isMigrated: false })
  await using migrated = await createTestDatabase()
  const inspect = (name: string) => examine({ ...settings(), ...urls(databaseUrl(name, role)) })
  const repair = async (db: typeof empty.db, { byName }: Awaited<ReturnType<typeof inspect>>) =>
    await sql.raw(byName.get('rights')?.repair?.replace(/^[^:]*run: /, '') ?? '').execute(db)
  const before = await inspect(empty.name)
  expect(before.failed).toEqual(['rights', 'schema', 'queue'])
  await repair(empty.db, before)
  expect((await inspect(empty.name)).failed).toEqual([])

  expect((await inspect(migrated.name)).byName.get('rights')?.repair).toContain('GRANT USAGE ON SCHEMA livehouse')
  const rights = `create schema pgboss create table job (); grant usage on schema livehouse, livehouse_ops to ${role.name};
    grant select on all tables in schema livehouse, livehouse_ops to ${role.name}`
  await sql.raw(rights).execute(migrated.db)
  const reader = await inspect(migrated.name)
  expect(reader.failed).toEqual(['rights', 'queue'])
  expect(reader.byName.get('queue')?.seen).toMatch(/may not read and write pgboss.job$/)
  expect(reader.byName.get('rights')?.seen).toContain('may not read and write livehouse.channels, ')
  await repair(migrated.db, reader)
  const writer = await inspect(migrated.name)
  expect(writer.failed).toEqual([])
  expect(writer.byName.get('rights')?.seen).toContain('migrations are for a DBA')
})

test('a read-only server, a database of another source, and migrations that stay pending are reported', async () => {
  const { appId } = service.emulator
  await claimSource(database.db, { baseUrl: 'https://other.example', appId, timeZone: 'Asia/Shanghai' })
  await migrateDown(database.db)
  await sql.raw(`alter database ${database.name} set default_transaction_read_only to on`).execute(database.db)
  // Another URL, so that it opens a new session.
  const report = await examine({ ...settings(), ...urls(`${database.url}#`), LIVEHOUSE_AUTO_MIGRATE: '0' })
  expect(report.failed).toEqual(['rights', 'schema', 'source', 'queue'])
  expect(report.byName.get('schema')?.repair).toContain('livehouse migrate up')
  expect(report.byName.get('rights')?.seen).toBe('the server is read-only')
  expect(report.byName.get('source')?.seen).toContain('LIVEHOUSE_BASE_URL was https://other.example')
})

test('a CockroachDB is refused by name, with the reason', async () => {
  await sql`set local allow_system_table_mods = on; alter function pg_catalog.version() rename to true_version;
    create function pg_catalog.version() returns text return 'CockroachDB CCL v24.3.1'`.execute(database.db)
  const DATABASE_URL = withParameters(database.url, { application_name: 'another' })
  const { byName } = await examine({ ...settings(), DATABASE_URL })
  const seen = expect.stringContaining('is a CockroachDB, which has no range types')
  expect(byName.get('database')).toMatchObject({ result: 'failed', seen })
})
