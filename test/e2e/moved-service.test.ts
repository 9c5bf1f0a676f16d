import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { doctor } from '../../src/cli/doctor.ts'
import { sync } from '../../src/cli/sync.ts'
import { migrateDown, readPending } from '../../src/store/migrate.ts'
import { credentialsOf } from '../helpers/run-verb.ts'
import { startAccount } from '../helpers/start-account.ts'

test('a service that has moved is confirmed once by hand, and nothing else is', async () => {
  await using account = await startAccount()
  const managers = ['--streams', 'managers']
  const moved = { LIVEHOUSE_BASE_URL: account.emulator.baseUrl.replace('127.0.0.1', 'localhost') }
  const confirm = ['--confirm-source']
  expect(await account.run(doctor, confirm, moved)).toMatchObject({
    error: { code: 'usage.invalid' },
    problems: ['--confirm-source: no run has claimed this database yet'],
  })
  expect((await account.run(sync, managers)).code).toBe(0)
  const refused = await account.run(sync, managers, moved)
  expect(refused.error).toMatchObject({ code: 'db.otherSource', message: expect.stringContaining('--confirm-source') })
  const elsewhere = await account.run(doctor, confirm, { ...moved, LIVEHOUSE_TIMEZONE: 'UTC' })
  expect(elsewhere.error).toMatchObject({ code: 'db.otherSource' })
  expect((await account.run(doctor, confirm, moved)).printed).toEqual([
    `The database holds the records of ${moved.LIVEHOUSE_BASE_URL}, which was ${account.emulator.baseUrl} before.`,
  ])
  expect((await account.run(sync, managers, moved)).code).toBe(0)
  expect((await account.run(sync, managers)).error).toMatchObject({ code: 'db.otherSource' })
})

test('credentials change, come and go; another app id is confirmed once', async () => {
  await using account = await startAccount()
  const token = { LIVEHOUSE_API_TOKEN: account.emulator.apiToken }
  const app = credentialsOf(account.emulator)
  const code = async (settings: Readonly<Record<string, string>>) =>
    (await account.run(sync, ['--streams', 'managers'], { LIVEHOUSE_API_TOKEN: '', ...settings })).code
  for (const settings of [token, { ...token, ...app }, app, token, app]) expect(await code(settings)).toBe(0)
  const another = { ...token, ...app, LIVEHOUSE_APP_ID: 'another' }
  const { error } = await account.run(sync, ['--streams', 'managers'], another)
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

  await account.run(sync, ['--streams', 'managers'])
  await migrateDown(db)
  expect((await confirm()).error).toMatchObject({ code: 'db.pendingMigrations' })
  expect(await readPending(db)).toHaveLength(1)
})
