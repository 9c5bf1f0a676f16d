import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openRunConnection } from '../../src/app/open-connection.ts'
import { doctor } from '../../src/cli/doctor.ts'
import { sync } from '../../src/cli/sync.ts'
import { readServiceSettings, readSettings } from '../../src/config.ts'
import { migrateDown, readPending } from '../../src/store/migrate.ts'
import { managers } from '../../src/streams/managers.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { credentialsOf } from '../helpers/run-verb.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'
import { startAccount } from '../helpers/start-account.ts'

const ONLY = ['--streams', 'managers']

test('a service that has moved is confirmed once by hand, and nothing else is', async () => {
  await using account = await startAccount()
  const moved = { LIVEHOUSE_BASE_URL: account.emulator.baseUrl.replace('127.0.0.1', 'localhost') }
  const confirm = ['--confirm-source']
  expect(await account.run(doctor, confirm, moved)).toMatchObject({
    error: { code: 'usage.invalid' },
    problems: ['--confirm-source: no run has claimed this database yet'],
  })
  expect((await account.run(sync, ONLY)).code).toBe(0)
  const refused = await account.run(sync, ONLY, moved)
  expect(refused.error).toMatchObject({ code: 'db.otherSource', message: expect.stringContaining('--confirm-source') })
  const elsewhere = await account.run(doctor, confirm, { ...moved, LIVEHOUSE_TIMEZONE: 'UTC' })
  expect(elsewhere.error).toMatchObject({ code: 'db.otherSource' })
  expect((await account.run(doctor, confirm, moved)).printed).toEqual([
    `The database holds the records of ${moved.LIVEHOUSE_BASE_URL}, which was ${account.emulator.baseUrl} before.`,
  ])
  expect((await account.run(sync, ONLY, moved)).code).toBe(0)
  expect((await account.run(sync, ONLY)).error).toMatchObject({ code: 'db.otherSource' })
})

test('an address where nobody gives an answer is not remembered, nor its time zone; the first that does is', async () => {
  await using account = await startAccount()
  await using stranger = await startScriptedService(() => ({ status: 404, text: '<h1>not here</h1>' }))
  const mistyped = { LIVEHOUSE_BASE_URL: stranger.url, LIVEHOUSE_TIMEZONE: 'UTC' }
  const away = { ...mistyped, LIVEHOUSE_BASE_URL: 'http://127.0.0.1:1' }
  for (const wrong of [mistyped, away]) expect((await account.run(sync, ONLY, wrong)).code).not.toBe(0)
  const { db } = account.database
  const published = async () => (await sql`select time_zone from livehouse_ops.bi_settings`.execute(db)).rows
  expect(await published()).toEqual([{ time_zone: 'UTC' }])
  expect((await account.run(sync, ONLY)).code).toBe(0)
  expect(await published()).toEqual([{ time_zone: 'Asia/Shanghai' }])
  expect((await account.run(sync, ONLY, mistyped)).error).toMatchObject({ code: 'db.otherSource' })
})

test('of two services that answer for the first time at once, the second is refused', async () => {
  await using account = await startAccount()
  const { baseUrl } = account.emulator
  const open = async (url: string) => {
    const environment = { ...account.environment, LIVEHOUSE_BASE_URL: url }
    const service = readSettings(environment, readServiceSettings)
    return await openRunConnection(createTestContext().context, service, account.database.db)
  }
  await using one = await open(baseUrl)
  await using another = await open(baseUrl.replace('127.0.0.1', 'localhost'))
  const request = { list: { stream: managers, partition: {} }, page: 1, pageSize: 1 }
  const context = { signal: new AbortController().signal }
  await one.ask(request, context)
  await expect(another.ask(request, context)).rejects.toMatchObject({ code: 'db.otherSource' })
  await one.ask(request, context)
})

test('credentials change, come and go; another app id is confirmed once', async () => {
  await using account = await startAccount()
  const token = { LIVEHOUSE_API_TOKEN: account.emulator.apiToken }
  const app = credentialsOf(account.emulator)
  const code = async (settings: Readonly<Record<string, string>>) =>
    (await account.run(sync, ONLY, { LIVEHOUSE_API_TOKEN: '', ...settings })).code
  for (const settings of [token, { ...token, ...app }, app, token, app]) expect(await code(settings)).toBe(0)
  const another = { ...token, ...app, LIVEHOUSE_APP_ID: 'another' }
  const { error } = await account.run(sync, ONLY, another)
  expect(error).toMatchObject({ code: 'db.otherSource', message: expect.stringContaining('--confirm-source') })
  expect((await account.run(doctor, ['--confirm-source'], another)).code).toBe(0)
  expect(await code(another)).toBe(0)
})

test('a confirmation that is refused has changed nothing', async () => {
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
