import { expect, test } from 'vitest'
import { audit } from '../../src/cli/audit.ts'
import { backfill } from '../../src/cli/backfill.ts'
import { sync } from '../../src/cli/sync.ts'
import { DAY, wallTimeAt } from '../../src/core/wall-clock.ts'
import type { Answer } from '../../src/emulator/answer.ts'
import type { ListQuery } from '../../src/emulator/params.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { refusal } from '../helpers/fault-effects.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { addRowsAt, first, firstChannel } from '../helpers/first-rows.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'

/** Of a range that is longer, the service serves these days, and says nothing. */
const shortenedTo =
  (days: number, which: 'newest' | 'oldest' | 'none of' = 'newest') =>
  (query: ListQuery): ListQuery => {
    const { from, to } = query
    if (from === undefined || to === undefined || to - from <= days * DAY) return query
    if (which === 'newest') return { ...query, from: to - days * DAY }
    return { ...query, to: which === 'oldest' ? from + days * DAY : from }
  }

/** Of each stream with a range a row every other day, over 280 days. */
async function startHistory(): Promise<TestAccount> {
  const account = await startAccount({ channels: 1, viewers: 5 })
  const now = wallTimeAt(account.clock.nowMs, 'Asia/Shanghai')
  const times = Array.from({ length: 140 }, (_, n) => now - 3600 - n * 2 * DAY)
  addRowsAt(account.emulator, times)
  return account
}

const STREAMS = ['watch_records', 'gifts', 'signups'] as const
const wanted = ['--streams', ['questionnaires', ...STREAMS].join()]

test.each([
  ['newest', 90],
  ['newest', 20],
  ['oldest', 20],
  ['oldest', 316],
  ['none of', 30],
] as const)(
  'of a service that serves the %s %i days of a longer range, the whole history is read',
  async (which, days) => {
    await using account = await startHistory()
    const { emulator } = account
    if (which === 'oldest') emulator.switches.rowOrder = 'time-asc'
    emulator.faults.push({ effect: { name: 'shortened', query: shortenedTo(days, which) } })
    expect(await account.run(backfill, ['--from', '2026-10-06', '--streams', 'watch_records'])).toMatchObject({
      code: 0,
    })
    const rows = await readStreamTable(account.database.db, 'watch_records')
    expect(rows.filter((row) => Math.floor(Number(row.record_id) / 1000) === 900)).toHaveLength(23)
    for (let night = 0; night < 3; night++) {
      account.clock.nowMs += DAY * 1000
      expect(await account.run(sync, wanted, { LIVEHOUSE_HISTORY_FROM: '2026-01-01' })).toMatchObject({ code: 0 })
      await expectTruth(account, STREAMS)
    }
    expect(await account.run(audit, wanted)).toMatchObject({ code: 0 })
  },
)

test('of a service that serves only the newest 90 days of a range, what is older than a longer pause is not marked', async () => {
  await using account = await startHistory()
  const { emulator, clock, database, run } = account
  expect(await run(sync, wanted)).toMatchObject({ code: 0 })
  clock.nowMs += 120 * DAY * 1000
  const { gifts } = firstChannel(emulator)
  // Behind the pause one gift and no signup.
  gifts.add({ ...first(gifts.rows), giftId: 1, givenAt: wallTimeAt(clock.nowMs, 'Asia/Shanghai') - 3600 })
  emulator.faults.push({ effect: { name: 'shortened', query: shortenedTo(90) } })
  const codes: unknown[] = []
  for (let reading = 0; reading < 4; reading++) {
    clock.nowMs += 7_200_000
    codes.push((await run(backfill, ['--from', '2025-06-01', '--streams', 'gifts,signups'])).code)
  }
  for (const stream of ['gifts', 'signups'])
    expect(await readStreamTable(database.db, stream, { isRemoved: true }), stream).toEqual([])
  expect(codes).toEqual([0, 0, 0, 0])
  await expectTruth(account, STREAMS)
})

test('what lies before the earliest row, and the newest days without one, are asked for once, of a long range alone; a refusal of that says nothing', async () => {
  await using account = await startHistory()
  let asked = 0
  let isAsked = false
  let longest = 0
  const refused = refusal(400001)
  const query = (each: ListQuery) => {
    const length = (each.to ?? 0) - (each.from ?? 0)
    isAsked = length < longest
    longest = Math.max(longest, length)
    if (isAsked) asked++
    return each
  }
  const answer = (given: Answer) => (isAsked ? (refused.answer?.(given) ?? given) : given)
  account.emulator.faults.push({ effect: { name: 'refused', query, answer } })
  for (let night = 0; night < 3; night++) {
    account.clock.nowMs += DAY * 1000
    longest = 0
    expect(await account.run(sync, ['--streams', 'watch_records'])).toMatchObject({ code: 0 })
  }
  expect(asked).toBe(2)
  await expectTruth(account, ['watch_records'])
})
