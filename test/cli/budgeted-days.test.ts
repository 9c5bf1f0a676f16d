import { expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import { daysObject, describeDays } from '../../src/cli/budgeted-days.ts'
import type { CallBudget, ScopeBudget } from '../../src/state/call-budget.ts'
import { startV1Account, V1_BACKFILL } from '../helpers/v1-account.ts'

const used = (scope: string, left: number): ScopeBudget => ({ scope, used: 10 - left, left, spentAt: null })
const account = (left: number, budget = 10): CallBudget => {
  return { serviceDay: '2026-11-20', budget, scope: 'account', scopes: [used('account', left)] }
}
const byChannel = (...scopes: readonly ScopeBudget[]): CallBudget => {
  return { serviceDay: '2026-11-20', budget: 10, scope: 'channel', scopes }
}
const calls = (...counts: readonly number[]) =>
  new Map(counts.map((count, index) => [`channel=${index + 1}`, count] as const))

test.each<[string, readonly number[], CallBudget, number | null, string | null]>([
  ['all of it today', [3, 7], account(10), 1, '2026-11-20'],
  ['the eleventh call tomorrow', [3, 8], account(10), 2, '2026-11-21'],
  ['25 pages in three days', [25], account(10), 3, '2026-11-22'],
  ['a day that is half spent', [25], account(4), 4, '2026-11-23'],
  ['a day that is spent', [10], account(0), 2, '2026-11-21'],
  ['over the end of a month', [130], account(0), 16, '2026-12-05'],
  ['no calls at all', [1], account(0, 0), null, null],
  ['nothing to read', [], account(0), 1, '2026-11-20'],
  ['each channel with its own', [10, 25], byChannel(), 3, '2026-11-22'],
  ['a channel that has used its own', [10, 9], byChannel(used('channel=2', 2)), 2, '2026-11-21'],
])('%s', (_case, counts, budget, days, lastDay) => {
  expect(daysObject(calls(...counts), budget)).toEqual({ calls_a_day: budget.budget, days, last_day: lastDay })
})

const estimate = {
  stream: 'watch_records_v1',
  slices: 1,
  calls: 25,
  isAtLeast: false,
  basis: { ledger: 1, asked: 0, likeAsked: 0, unknown: 0 },
  callsOf: calls(25),
} as const

test('a person reads days and calls, and what is not known', () => {
  expect(describeDays(estimate, account(4))).toEqual([
    'watch_records_v1: 4 days, until 2026-11-23: 25 calls at 10 a day (left today: 4 of 10)',
  ])
  const [first, second] = describeDays({ ...estimate, isAtLeast: true }, byChannel(used('channel=1', 2)))
  expect(first).toContain('at least 4 days, until 2026-11-23: at least 25 calls at 10 a day for each channel')
  expect(first).toContain('(left today: channel=1 2 of 10, each other channel 10)')
  expect(second).toContain('tells no total')
  expect(describeDays(estimate, account(0, 0))[0]).toContain('LIVEHOUSE_V1_BUDGET is 0')
  const { callsOf: _, ...ordinary } = estimate
  expect(describeDays(ordinary, account(4))).toEqual([])
})

test('a dry run tells the days, spends no call, and knows what has been read before', async () => {
  await using v1 = await startV1Account()
  v1.setRecords(2420)
  const dryRun = async () =>
    JSON.parse((await v1.run(backfill, [...V1_BACKFILL, '--dry-run', '--json'])).printed.join())
  const estimated = async () => (await dryRun()).streams.watch_records_v1
  expect(await estimated()).toMatchObject({ calls: 2, is_at_least: true, days: 1, calls_a_day: 10 })
  expect(v1.callsOn46()).toEqual([])
  for (let day = 1; day <= 2; day++) {
    await v1.run(backfill, V1_BACKFILL)
    // What is begun takes two calls at least, what was never read one.
    expect(await estimated()).toMatchObject({ calls: 3, is_at_least: true, days: 2 })
    v1.nextDay()
  }
  await v1.run(backfill, V1_BACKFILL)
  v1.nextDay()
  const spent = v1.callsOn46().length
  expect(await dryRun()).toMatchObject({
    calls: 27,
    minutes: { 5: 0, 20: 0 },
    streams: { watch_records_v1: { calls: 27, is_at_least: false, days: 3, last_day: '2026-11-25' } },
  })
  const text = (await v1.run(backfill, [...V1_BACKFILL, '--dry-run'])).printed.join('\n')
  expect(text).toContain('watch_records_v1: 3 days, until 2026-11-25: 27 calls at 10 a day (left today: 10 of 10)')

  await v1.run(backfill, V1_BACKFILL)
  v1.nextDay()
  expect(await estimated()).toMatchObject({ calls: 18, is_at_least: false, days: 2 })
  expect(v1.callsOn46()).toHaveLength(spent + 10)
})
