import { expect, test } from 'vitest'
import { audit } from '../../src/cli/audit.ts'
import { sync } from '../../src/cli/sync.ts'
import { DAY, MINUTE, wallTimeAt } from '../../src/core/wall-clock.ts'
import type { Switches } from '../../src/emulator/switches.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { refusal } from '../helpers/fault-effects.ts'
import { first, firstChannel } from '../helpers/first-rows.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/furnish.ts'

const ONLY = ['--streams', 'watch_records']

/** Four days ago a live of two hours: visits of 5 to 90 minutes, so many pages of two that the list is cut. */
async function startLongLive(recordFilterTime: Switches['recordFilterTime'], visits: number): Promise<TestAccount> {
  const account = await startAccount({ channels: 1, viewers: 5 })
  const { emulator, clock } = account
  emulator.switches.recordFilterTime = recordFilterTime
  emulator.faults.push({ effect: clampedTo(2) })
  const { records } = firstChannel(emulator)
  const record = first(records.rows)
  const beganAt = wallTimeAt(clock.nowMs, 'Asia/Shanghai') - 4 * DAY
  records.add(
    ...Array.from({ length: visits }, (_, n) => {
      const enteredAt = beganAt + ((n * 7) % 120) * MINUTE
      return { ...record, recordId: String(900_000 + n), enteredAt, leftAt: enteredAt + (5 + ((n * 11) % 85)) * MINUTE }
    }),
  )
  return account
}

test.each(['entry', 'leave', 'both'] as const)(
  'a long list of visits is read to its end, also where %s of their times must lie in the range',
  async (recordFilterTime) => {
    await using account = await startLongLive(recordFilterTime, 600)
    for (let night = 0; night < 2; night++) {
      expect(await account.run(sync, ONLY)).toMatchObject({ code: 0 })
      await expectTruth(account, ['watch_records'])
      account.clock.nowMs += DAY * 1000
    }
    expect(await account.run(audit, ONLY)).toMatchObject({ code: 0 })
  },
)

test('where a deep page is refused and no cut shows all visits, the run says so', async () => {
  await using account = await startLongLive('both', 60)
  account.emulator.faults.push({ effect: refusal(400000), page: 20 })
  expect(await account.run(sync, ONLY)).toMatchObject({ code: 3 })
})
