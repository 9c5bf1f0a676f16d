import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openRunConnection } from '../../src/app/open-connection.ts'
import { runExtraction } from '../../src/app/run-extraction.ts'
import { migrateDown } from '../../src/bi/publish/migrate-down.ts'
import { backfill } from '../../src/cli/backfill.ts'
import { doctor } from '../../src/cli/doctor.ts'
import { readExtractionSettings } from '../../src/cli/extraction-settings.ts'
import { sync } from '../../src/cli/sync.ts'
import { readPending } from '../../src/store/migrate.ts'
import { managers } from '../../src/streams/managers.ts'
import { streams } from '../../src/streams/registry.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { connectionReset, errcode, status } from '../helpers/fault-effects.ts'
import { credentialsOf } from '../helpers/run-verb.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'
import { startV1Account, V1_BACKFILL } from '../helpers/v1-account.ts'

const ONLY = ['--streams', 'managers']

test('a moved base URL is confirmed once by hand, and a changed time zone is not', async () => {
  await using account = await startAccount()
  const moved = { LIVEHOUSE_BASE_URL: account.emulator.baseUrl.replace('127.0.0.1', 'localhost') }
  const confirm = ['--confirm-source']
  expect((await account.run(sync, ONLY)).code).toBe(0)
  const refused = await account.run(sync, ONLY, moved)
  expect(refused.error).toMatchObject({ code: 'db.otherSource', message: expect.stringContaining('--confirm-source') })
  const elsewhere = await account.run(doctor, confirm, { ...moved, LIVEHOUSE_TIMEZONE: 'UTC' })
  expect(elsewhere.error).toMatchObject({ code: 'db.otherSource' })
  expect((await account.run(doctor, confirm, moved)).printed).toEqual([
    `The database holds the records of ${moved.LIVEHOUSE_BASE_URL}: LIVEHOUSE_BASE_URL was ${account.emulator.baseUrl} and is now ${moved.LIVEHOUSE_BASE_URL}.`,
  ])
  expect((await account.run(sync, ONLY, moved)).code).toBe(0)
  expect((await account.run(sync, ONLY)).error).toMatchObject({ code: 'db.otherSource' })
})

test('an address becomes the source, and sets the zone of the views, only once it has served a page', async () => {
  const zone = { LIVEHOUSE_TIMEZONE: 'Asia/Tokyo' }
  await using account = await startAccount({ timeZone: 'Asia/Tokyo' })
  const bodies = ['<h1>not here</h1>', '{"message":"welcome"}', '{}', 'null']
  await using stranger = await startScriptedService((_request, index) => ({
    text: bodies[index % bodies.length] ?? '',
  }))
  const unreachable = { LIVEHOUSE_BASE_URL: 'http://127.0.0.1:1' }
  for (const wrong of [{ LIVEHOUSE_BASE_URL: stranger.url }, unreachable])
    expect((await account.run(sync, ONLY, wrong)).code).not.toBe(0)
  const { db } = account.database
  const published = async () => (await sql`select time_zone from livehouse_ops.bi_settings`.execute(db)).rows
  expect(await published()).toEqual([{ time_zone: 'Asia/Shanghai' }])
  expect((await account.run(sync, ONLY, zone)).code).toBe(0)
  expect(await published()).toEqual([{ time_zone: 'Asia/Tokyo' }])
  expect((await account.run(sync, ONLY, { ...zone, ...unreachable })).error).toMatchObject({ code: 'db.otherSource' })
})

test('of two services first opened at once, one becomes the source; a claim that fails is tried again', async () => {
  await using account = await startAccount()
  const { db } = account.database
  const { context } = createTestContext()
  const settingsOf = (url: string) => {
    const environment = { ...account.environment, LIVEHOUSE_BASE_URL: url }
    return readExtractionSettings({ ...context, environment }, streams)
  }
  const other = settingsOf(account.emulator.baseUrl.replace('127.0.0.1', 'localhost'))
  await using one = await openRunConnection(context, settingsOf(account.emulator.baseUrl), db)
  await using another = await openRunConnection(context, other, db)
  const request = { list: { stream: managers, partition: {} }, page: 1, pageSize: 1 }
  const signal = { signal: new AbortController().signal }
  await sql`alter table livehouse_ops.source rename to away`.execute(db)
  await expect(one.ask(request, signal)).rejects.toThrow('livehouse_ops.source')
  await sql`alter table livehouse_ops.away rename to source`.execute(db)
  await one.ask(request, signal)
  const refused = { code: 'db.otherSource' }
  await expect(another.ask(request, signal)).rejects.toMatchObject(refused)
  await expect(openRunConnection(context, other, db)).rejects.toMatchObject(refused)
  // The run is refused before it writes anything.
  const plan = { command: 'sync', parameters: {}, namesChannels: false, streams, planStreams: () => async () => [] }
  const run = runExtraction(context, { ...plan, settings: other, db, connection: another })
  await expect(run).rejects.toMatchObject(refused)
  expect(await account.run(sync, ONLY)).toMatchObject({ code: 0 })
})

test('credentials may change, come and go; another app id is confirmed once', async () => {
  await using account = await startAccount()
  const token = { LIVEHOUSE_API_TOKEN: account.emulator.apiToken }
  const app = credentialsOf(account.emulator)
  const code = async (settings: Readonly<Record<string, string>>) =>
    (await account.run(sync, ONLY, { LIVEHOUSE_API_TOKEN: '', ...settings })).code
  for (const settings of [token, { ...token, ...app }, app, token, app]) expect(await code(settings)).toBe(0)
  const another = { ...token, ...app, LIVEHOUSE_APP_ID: 'another' }
  const { error } = await account.run(sync, ONLY, another)
  expect(error).toMatchObject({ code: 'db.otherSource', message: expect.stringContaining('--confirm-source') })
  const { printed } = await account.run(doctor, ['--confirm-source'], another)
  expect(printed.join()).toMatch(/: LIVEHOUSE_APP_ID was \S+ and is now another\.$/)
  expect(await code(another)).toBe(0)
})

test('a refused confirmation changes nothing', async () => {
  await using account = await startAccount({ isMigrated: false })
  const { db } = account.database
  const schemas = async () =>
    (await sql`select nspname from pg_namespace where nspname like 'livehouse%'`.execute(db)).rows
  const confirm = async () => await account.run(doctor, ['--confirm-source'])
  expect((await confirm()).problems).toEqual(['--confirm-source: no run has claimed this database yet'])
  expect(await schemas()).toEqual([])

  await account.run(sync, ONLY)
  await migrateDown(db)
  expect((await confirm()).error).toMatchObject({ code: 'db.pendingMigrations' })
  expect(await readPending(db)).toHaveLength(1)
})

/** App credentials in place of the fixed token. */
const secretOf = ({ emulator }: TestAccount) => ({ ...credentialsOf(emulator), LIVEHOUSE_API_TOKEN: '' })

test.each([
  ['busy once', errcode(5000, 'system busy')],
  ['429 once', status(429)],
])('a token service that answers %s and 503 twice costs none of the ten calls a day', async (_, effect) => {
  await using account = await startV1Account()
  const { emulator, run, database } = account
  account.setRecords(50)
  // Where both apply, the service answers with the last one.
  emulator.faults.push({ effect: status(503), endpoint: 'token', times: 3 }, { effect, endpoint: 'token', times: 1 })
  emulator.faults.push({ effect: connectionReset(), endpoint: 'userRecords', times: 1 })
  expect(await run(backfill, V1_BACKFILL, secretOf(account))).toMatchObject({ code: 0 })
  // The lost call, one page, and the empty page that ends each of two channels.
  expect(account.callsByDay()).toEqual([4])
  expect(await database.db.selectFrom('livehouse_ops.call_budget').select('calls').execute()).toEqual([{ calls: 4 }])
  await account.expectTruth(['watch_records_v1'])
})

test.each([
  ['a code', errcode(5000, 'system busy'), /busy.*LIVEHOUSE_APP_SECRET.*asks again \(asked 3 times\)/, 3],
  ['429', status(429), /429 after 8 attempts; no call can be made without a token/, 8],
])('a token service that always says %s is called a few times, and ends the run', async (_, effect, words, most) => {
  await using account = await startAccount({ channels: 12 })
  account.emulator.faults.push({ effect, endpoint: 'token' })
  const error = { code: 'api.noToken', message: expect.stringMatching(words) }
  expect(await account.sync([], secretOf(account))).toMatchObject({ code: 1, errors: [error] })
  // A call that waited for its turn may have asked for a token once more before the run ended.
  expect([most, most + 1]).toContain(account.emulator.calls.filter(({ endpoint }) => endpoint === 'token').length)
})

test('a mistyped address of the token service is one error that names the setting and its value', async () => {
  await using account = await startAccount()
  const mistyped = { ...secretOf(account), LIVEHOUSE_AUTH_URL: `${account.emulator.authUrl}/mistyped` }
  const message = expect.stringMatching(`404.* LIVEHOUSE_AUTH_URL, which is ${mistyped.LIVEHOUSE_AUTH_URL};`)
  expect(await account.sync([], mistyped)).toMatchObject({ code: 1, errors: [{ code: 'api.wrongAuthUrl', message }] })
})
