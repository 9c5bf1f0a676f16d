import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { wallTimeAt } from '../../src/core/wall-clock.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { changedRows, noRows } from '../helpers/fault-effects.ts'
import { first, firstChannel } from '../helpers/first-rows.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'

/** An account with so many gifts of a channel more than there were, some of them equal. */
async function startGifts({ different = 0, equal = 0 }): Promise<TestAccount> {
  const account = await startAccount({ channels: 1 })
  const { gifts } = firstChannel(account.emulator)
  const gift = first(gifts.rows)
  const now = wallTimeAt(account.clock.nowMs, 'Asia/Shanghai')
  const giftOf = (giftId: number, ago: number) => ({ ...gift, type: 'cash' as const, giftId, givenAt: now - ago })
  gifts.add(...Array.from({ length: different }, (_, n) => giftOf(n, 3600 + n * 60)))
  gifts.add(...Array.from({ length: equal }, () => giftOf(1, 3600)))
  return account
}

async function syncGifts({ run, clock }: TestAccount) {
  clock.nowMs += 7_200_000
  const { code, printed } = await run(sync, ['--streams', 'gifts', '--json'])
  const { streams, errors } = JSON.parse(printed.join('\n'))
  return { code, errors, ...streams.gifts }
}

test.each(['empty', 'repeat-first', 'repeat-last', 'error'] as const)(
  'gifts with a field that differs in every answer are read, and none twice; behind the last page: %s',
  async (beyondLastPage) => {
    await using account = await startGifts({ different: 230, equal: 130 })
    Object.assign(account.emulator.switches, { beyondLastPage })
    let answers = 0
    account.emulator.faults.push({ effect: changedRows((item) => ({ ...Object(item), server_time: ++answers })) })
    expect(await syncGifts(account)).toMatchObject({ code: 0, errors: [] })
    await expectTruth(account, ['gifts'])
    expect(await syncGifts(account)).toMatchObject({ code: 0, inserted: 0, removed: 0, errors: [] })
    // Behind the lookback it has come to rest, and is read no more.
    account.clock.nowMs += 2 * 86_400_000
    await syncGifts(account)
    account.clock.nowMs += 2 * 86_400_000
    expect(await syncGifts(account)).toMatchObject({ code: 0, extracted: 0, errors: [] })
  },
)

test('where null stands for no gifts, lists end there, and a blank first answer is read again', async () => {
  await using account = await startGifts({ different: 100 })
  const { emulator } = account
  emulator.switches.emptyLists = 'null'
  emulator.faults.push({ effect: noRows() })
  expect(await syncGifts(account)).toMatchObject({ code: 0, inserted: 0, slices: { agreed: 0, unverifiable: 2 } })
  emulator.faults.splice(0)
  expect(await syncGifts(account)).toMatchObject({ code: 0, errors: [] })
  await expectTruth(account, ['gifts'])
})
