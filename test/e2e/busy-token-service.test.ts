import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { errcode } from '../../src/emulator/fault-effects.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'

/** With an app id and secret in place of the fixed token, and `times` answers of a token service that is busy. */
async function syncBusy({ emulator, run }: TestAccount, times?: number) {
  emulator.faults.push({ effect: errcode(5000, 'system busy'), endpoint: 'token', ...(times && { times }) })
  return await run(sync, ['--json'], {
    LIVEHOUSE_API_TOKEN: '',
    LIVEHOUSE_AUTH_URL: emulator.authUrl,
    LIVEHOUSE_APP_ID: emulator.appId,
    LIVEHOUSE_APP_SECRET: emulator.appSecret,
  })
}

test('a token service that is busy for a moment is asked again, and the run loses nothing by it', async () => {
  await using account = await startAccount()
  expect(await syncBusy(account, 2)).toMatchObject({ code: 0 })
  await expectTruth(account)
})

test('one that stays busy ends the run as trouble of the service, not as refused credentials', async () => {
  await using account = await startAccount()
  const { code, printed } = await syncBusy(account)
  expect(code).toBe(1)
  const { errors }: { errors: readonly unknown[] } = JSON.parse(printed.join(''))
  expect(errors).toEqual([expect.objectContaining({ code: 'api.noToken', message: expect.stringContaining('busy') })])
})
