import { expect, test } from 'vitest'
import { readLastDay } from '../../src/app/last-day.ts'
import { loadConfiguredJob, readJobSettings } from '../../src/cli/jobs.ts'
import { run } from '../../src/cli/run.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { startV1Account } from '../helpers/v1-account.ts'

test('the last day of the ten calls is told from what is left, without asking the service', async () => {
  await using account = await startV1Account()
  account.setRecords(1150, 50)
  const clock = { now: () => account.clock.nowMs, sleep: async () => {} }
  const { context } = createTestContext({ environment: account.environment(), clock })
  const job = await loadConfiguredJob(context, 'run', 'v1-history')
  const lastDay = async () => {
    const calls = account.callsOn46().length
    const day = await readLastDay(context, account.database.db, job, readJobSettings(context, job))
    expect(account.callsOn46()).toHaveLength(calls)
    return day
  }
  // A call for each of two channels, as far as is known.
  expect(await lastDay()).toBe('2026-11-20')
  const closed = createTestContext({ environment: { ...account.environment(), LIVEHOUSE_V1_BUDGET: '0' }, clock })
  expect(await readLastDay(closed.context, account.database.db, job, readJobSettings(closed.context, job))).toBeNull()
  expect((await account.run(run, ['v1-history'])).code).toBe(4)
  expect(await lastDay()).toBe('2026-11-21')
  account.nextDay()
  expect((await account.run(run, ['v1-history'])).code).toBe(0)
  expect(await lastDay()).toBeUndefined()
})
