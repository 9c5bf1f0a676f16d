import { expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import { connectionReset, errcode, status } from '../helpers/fault-effects.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'
import { startV1Account, V1_BACKFILL } from '../helpers/v1-account.ts'

/** With an app id and secret in place of the fixed token, and `times` answers of a token service that is busy. */
async function syncBusy(account: TestAccount, times?: number) {
  account.emulator.faults.push({ effect: errcode(5000, 'system busy'), endpoint: 'token', ...(times && { times }) })
  return await account.sync([], withSecret(account.emulator, account.emulator.authUrl))
}

const withSecret = ({ appId, appSecret }: TestAccount['emulator'], authUrl: string) => ({
  LIVEHOUSE_API_TOKEN: '',
  LIVEHOUSE_AUTH_URL: authUrl,
  LIVEHOUSE_APP_ID: appId,
  LIVEHOUSE_APP_SECRET: appSecret,
})

test.each([
  ['busy once', errcode(5000, 'system busy')],
  ['429 once', status(429)],
])('a token service that answers %s and 503 twice takes none of the ten calls a day', async (_, effect) => {
  await using account = await startV1Account()
  const { emulator, run, database } = account
  account.setRecords(50)
  // Where both apply, the last one is answered.
  emulator.faults.push({ effect: status(503), endpoint: 'token', times: 3 }, { effect, endpoint: 'token', times: 1 })
  emulator.faults.push({ effect: connectionReset(), endpoint: 'userRecords', times: 1 })
  expect(await run(backfill, V1_BACKFILL, withSecret(emulator, emulator.authUrl))).toMatchObject({ code: 0 })
  // The lost one, a page, and the empty one that each of two channels ends with.
  expect(account.callsByDay()).toEqual([4])
  const taken = await database.db.selectFrom('livehouse_ops.call_budget').select('calls').execute()
  expect(taken).toEqual([{ calls: 4 }])
  await account.expectTruth(['watch_records_v1'])
})

test('one that stays busy ends the run as trouble of the service, not as refused credentials', async () => {
  await using account = await startAccount()
  const error = { code: 'api.noToken', message: expect.stringMatching(/busy.*LIVEHOUSE_APP_SECRET/) }
  expect(await syncBusy(account)).toMatchObject({ code: 1, errors: [error] })
})

test('a mistyped address of the token service is one error that names the setting and its value, and nothing is tried twice', async () => {
  await using account = await startAccount()
  const authUrl = `${account.emulator.authUrl}/mistyped`
  const message = expect.stringMatching(`404.* LIVEHOUSE_AUTH_URL, which is ${authUrl};`)
  const result = await account.sync([], withSecret(account.emulator, authUrl))
  expect(result).toMatchObject({ code: 1, errors: [{ code: 'api.wrongAuthUrl', message }] })
})
