import { expect, test } from 'vitest'
import { backfill } from '../../../src/cli/backfill.ts'
import { status } from '../../../src/cli/status.ts'
import { leftOf } from '../../../src/cli/status/v1-calls.ts'
import { refusal, status as httpStatus } from '../../../src/emulator/fault-effects.ts'
import { startV1Account, V1_BACKFILL } from '../../helpers/v1-account.ts'

test('status shows the calls that are left today, and what is half read', async () => {
  await using v1 = await startV1Account()
  v1.setRecords(2420)
  const shown = async (settings = {}) => (await v1.run(status, [], settings)).printed.join('\n')
  const json = async () => JSON.parse((await v1.run(status, ['--json'])).printed.join())
  expect(await json()).toMatchObject({ v1_calls: null, half_read: [] })

  v1.emulator.faults.push({ effect: httpStatus(503), endpoint: 'userRecords', page: 4 })
  await v1.run(backfill, V1_BACKFILL)
  const [channelId] = v1.emulator.channelIds
  expect(await shown()).toContain('calls left on watch_records_v1 today (2026-11-20): 4 of 10')
  expect(await shown({ LIVEHOUSE_V1_BUDGET: '7' })).toContain('(2026-11-20): 1 of 7')
  expect(await shown()).toContain(
    `half read: watch_records_v1 channel=${channelId} from 2018-09-01 to 2018-12-01, 3 pages with 300 rows, the last at 2026-11-20 14:30`,
  )
  expect(await json()).toMatchObject({
    v1_calls: {
      service_day: '2026-11-20',
      budget: 10,
      scope: 'account',
      scopes: [{ scope: 'account', used: 6, left: 4, spent_at: null }],
    },
    half_read: [{ partition: `channel=${channelId}`, from: '2018-09-01 00:00:00', pages: 3, rows: 300 }],
  })
  v1.nextDay()
  expect(await shown()).toContain('calls left on watch_records_v1 today (2026-11-21): 10 of 10')

  v1.emulator.faults.splice(0, 1, { effect: refusal(429_001), endpoint: 'userRecords' })
  await v1.run(backfill, V1_BACKFILL)
  expect(await shown()).toContain('0 of 10 (the service has refused a further one)')
})

test('where each channel has its own, those that have used some are named', () => {
  const budget = { serviceDay: '2026-11-20', budget: 10, scope: 'channel' } as const
  expect(leftOf({ ...budget, scopes: [] })).toBe('each channel 10')
  const scopes = [{ scope: 'channel=9', used: 7, left: 3, spentAt: null }]
  expect(leftOf({ ...budget, scopes })).toBe('channel=9 3 of 10, each other channel 10')
})
