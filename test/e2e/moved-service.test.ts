import { expect, test } from 'vitest'
import { doctor } from '../../src/cli/doctor.ts'
import { sync } from '../../src/cli/sync.ts'
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
