import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { doctor } from '../../src/cli/doctor.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { html, refusal } from '../helpers/fault-effects.ts'
import { claimSource } from '../../src/ledger/source.ts'
import { migrateDown } from '../../src/store/migrate.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { startEmulatedService } from '../helpers/emulated-service.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
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
/** Settings under which all is well. */
const settings = ({ emulator } = service) => ({
  ...credentialsOf(emulator),
  LIVEHOUSE_CHANNELS: emulator.channelIds.join(','),
  DATABASE_URL: database.url,
})

const results: Readonly<Record<string, string>> = { '✓': 'ok', '✗': 'failed', '!': 'warning', '–': 'skipped' }

/** Runs the doctor, sees that the exit code and the checks agree, and gives the checks by name. */
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

test('where everything is well, every line says so, and nothing is changed', async () => {
  await using empty = await createTestDatabase({ isMigrated: false })
  const { failed, skipped, byName } = await examine({ ...settings(), DATABASE_URL: empty.url })
  expect(failed).toEqual([])
  expect(skipped).toEqual(['4.6 userRecords'])
  expect(byName.get('bearer token')).toMatchObject({ result: 'ok', seen: 'accepted' })
  expect(byName.get('4.7 visitorList')?.seen).toBe('answers, 60 in all')
  expect(byName.get('schema')?.seen).toBe('does not exist yet; the next sync brings it up to date')
  expect(service.emulator.calls.map(({ endpoint }) => endpoint)).not.toContain('userRecords')
  const { rows } = await sql`select from pg_namespace where nspname like 'livehouse%'`.execute(empty.db)
  expect(rows).toEqual([])
})

test('settings that are wrong are each named, and everything else is checked', async () => {
  const without = await examine({ LIVEHOUSE_CONCURRENCY: 'many' })
  expect(without.failed).toEqual(['service settings', 'service settings', 'service settings', 'database settings'])
  expect([...without.byName.keys()]).toEqual(['service settings', 'channels', 'database settings', 'serve settings'])
  expect(without.byName.get('channels')).toMatchObject({ result: 'warning', seen: expect.stringContaining('--stream') })

  const wrong = { LOG_LEVEL: 'loud', LIVEHOUSE_ALERT_FORMAT: 'bogus', LIVEHOUSE_HTTP: '0.0.0.0:8787' }
  const { failed, byName } = await examine({ ...settings(), ...wrong, LIVEHOUSE_MASC: '1' })
  expect(new Set(failed)).toEqual(new Set(['serve settings']))
  expect(failed.length).toBeGreaterThan(2)
  expect(byName.get('schema')?.result).toBe('ok')
  expect(byName.get('settings')?.seen).toBe('LIVEHOUSE_MASC is not a setting; did you mean LIVEHOUSE_MASK?')
})

test('a .env or folder of jobs that others may change is named; where everybody may, root goes no further', () => {
  const cwd = createTemporaryFolder('open-files')
  mkdirSync(join(cwd, 'jobs'))
  writeFileSync(join(cwd, '.env'), 'LIVEHOUSE_JOBS_DIR=jobs')
  const look = (env: number, jobs: number) => {
    chmodSync(join(cwd, '.env'), env)
    chmodSync(join(cwd, 'jobs'), jobs)
    const { stdout, stderr } = spawnSync(process.execPath, [launcher, 'doctor'], { cwd, env: {}, encoding: 'utf8' })
    return (stdout + stderr).replaceAll(`${cwd}/`, '').match(/\S+ may be changed by [^;\n]+|chmod .*/g)
  }
  expect(look(0o600, 0o700)).toBeNull()
  const ofGroup = ['.env', 'jobs'].flatMap((name) => [`${name} may be changed by its group`, `chmod go-w ${name}`])
  expect(look(0o660, 0o770)).toEqual(ofGroup)
  const [who, right] = isRoot ? ['everybody, and livehouse runs as root', 'o-w'] : ['everybody', 'go-w']
  expect(look(0o666, 0o700)).toEqual([`.env may be changed by ${who}`, `chmod ${right} .env`])
  expect(look(0o600, 0o777)).toEqual([`jobs may be changed by ${who}`, `chmod ${right} jobs`])
})

test('a service out of reach does not keep the database from being checked, nor the other way round', async () => {
  const first = await examine({ ...settings(), LIVEHOUSE_BASE_URL: 'http://127.0.0.1:1' })
  expect(first.failed).toEqual(['base URL'])
  expect(first.byName.get('base URL')?.repair).toContain('check the address')
  expect(first.skipped).toContain('4.7 visitorList')
  expect(first.byName.get('rights')?.result).toBe('ok')

  const second = await examine({ ...settings(), DATABASE_URL: 'postgres://nobody:hush@127.0.0.1:1/none' })
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

test('each endpoint fails for itself, with what to do', async () => {
  service.emulator.faults.push(
    { effect: refusal(403002), endpoint: 'giftRunning' },
    { effect: refusal(404002), endpoint: 'visitorList' },
    { effect: html(200), endpoint: 'getQuestionList' },
  )
  const found = await examine(settings())
  expect(found.failed).toEqual(['4.7 visitorList', '4.12 giftRunning', '4.10 getQuestionList'])
  expect(found.byName.get('4.12 giftRunning')?.repair).toContain('to open this interface')
  expect(found.byName.get('4.7 visitorList')?.repair).toContain('LIVEHOUSE_CHANNELS')
  expect(found.byName.get('4.10 getQuestionList')?.repair).toContain('not of a web page')
  expect(found.skipped).toContain('4.11 signupRecord')
  expect(found.byName.get('4.5 userRecordList')?.result).toBe('ok')
})

test('a service that refuses everything for the moment is reported within a minute, after some calls', async () => {
  const clock = createFakeClock({ isAutomatic: true })
  service.emulator.faults.push({ effect: refusal(429001) })
  const startMs = clock.now()
  const { failed } = await examine({ ...settings(), DATABASE_URL: '' }, clock)
  expect(failed).toContain('4.1 token')
  expect([clock.now() - startMs < 60_000, service.emulator.calls.length < 45]).toEqual([true, true])
})

test('a clock that is a minute off is worth a look, and no failure', async () => {
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

test('a user without rights is told which are missing and what a DBA runs, before and after the schema is there', async () => {
  await using role = await createTestRole()
  await using empty = await createTestDatabase({ isMigrated: false })
  await using migrated = await createTestDatabase()
  const look = (name: string) => examine({ ...settings(), DATABASE_URL: databaseUrl(name, role) })
  const repair = async (db: typeof empty.db, { byName }: Awaited<ReturnType<typeof look>>) =>
    await sql.raw(byName.get('rights')?.repair?.replace(/^[^:]*run: /, '') ?? '').execute(db)
  const before = await look(empty.name)
  expect(before.failed).toEqual(['rights', 'schema'])
  await repair(empty.db, before)
  expect((await look(empty.name)).failed).toEqual([])

  expect((await look(migrated.name)).byName.get('rights')?.repair).toContain('GRANT USAGE ON SCHEMA livehouse')
  const rights = `grant usage on schema livehouse, livehouse_ops to ${role.name};
    grant select on all tables in schema livehouse, livehouse_ops to ${role.name}`
  await sql.raw(rights).execute(migrated.db)
  const reader = await look(migrated.name)
  expect(reader.failed).toEqual(['rights'])
  expect(reader.byName.get('rights')?.seen).toContain('may not read and write livehouse.channels, ')
  await repair(migrated.db, reader)
  const writer = await look(migrated.name)
  expect(writer.failed).toEqual([])
  expect(writer.byName.get('rights')?.seen).toContain('migrations are for a DBA')
})

test('a read-only server, a database of another source, and pending migrations where they are not applied by themselves are found', async () => {
  const { appId } = service.emulator
  await claimSource(database.db, { baseUrl: 'https://other.example', appId, timeZone: 'Asia/Shanghai' })
  await migrateDown(database.db)
  await sql.raw(`alter database ${database.name} set default_transaction_read_only to on`).execute(database.db)
  // By another URL, so that it has a new session.
  const found = await examine({ ...settings(), DATABASE_URL: `${database.url}#`, LIVEHOUSE_AUTO_MIGRATE: '0' })
  expect(found.failed).toEqual(['rights', 'schema', 'source'])
  expect(found.byName.get('schema')?.repair).toContain('livehouse migrate up')
  expect(found.byName.get('rights')?.seen).toBe('the server is read-only')
  expect(found.byName.get('source')?.seen).toContain('LIVEHOUSE_BASE_URL was https://other.example')
})

test('a CockroachDB is refused by its name, and why', async () => {
  await sql`set local allow_system_table_mods = on; alter function pg_catalog.version() rename to true_version;
    create function pg_catalog.version() returns text return 'CockroachDB CCL v24.3.1'`.execute(database.db)
  const DATABASE_URL = withParameters(database.url, { application_name: 'another' })
  const { byName } = await examine({ ...settings(), DATABASE_URL })
  const seen = expect.stringContaining('is a CockroachDB, which has no range types')
  expect(byName.get('database')).toMatchObject({ result: 'failed', seen })
})
