import { expect, test } from 'vitest'
import { audit } from '../../src/cli/audit.ts'
import { backfill } from '../../src/cli/backfill.ts'
import type { Window } from '../../src/core/slice.ts'
import { DAY } from '../../src/core/wall-clock.ts'
import type { Answer } from '../../src/emulator/answer.ts'
import type { ListQuery } from '../../src/emulator/params.ts'
import { constantTotal, errcode, refusal } from '../helpers/fault-effects.ts'
import { addRows, first, firstChannel, firstRows } from '../helpers/first-rows.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/add-odd-rows.ts'

const STREAMS = ['watch_records', 'gifts', 'signups'] as const
const wanted = ['--streams', ['questionnaires', ...STREAMS].join()]
const onlyVisits = ['--streams', 'watch_records']

type Filter = (range: Window) => Window

const startOf = (time: number) => Math.floor(time / DAY) * DAY
const filters = {
  'whole days': ({ from, to }) => ({ from: startOf(from), to: startOf(to) + DAY - 1 }),
  'an end in whole days': ({ from, to }) => ({ from, to: startOf(to) + DAY - 1 }),
  'days, the last one excluded': ({ from, to }) => ({ from, to: startOf(to) - 1 }),
} satisfies Record<string, Filter>

/** Of a longer range, the service silently serves only these days. */
const shortenedTo =
  (days: number, which: 'newest' | 'oldest' | 'none of' = 'newest'): Filter =>
  ({ from, to }) => {
    if (to - from <= days * DAY) return { from, to }
    if (which === 'newest') return { from: to - days * DAY, to }
    return { from, to: which === 'oldest' ? from + days * DAY : from }
  }

function filterBy({ emulator }: TestAccount, ...changes: readonly Filter[]): void {
  const query = (asked: ListQuery): ListQuery => {
    const { from, to } = asked
    if (from === undefined || to === undefined) return asked
    return { ...asked, ...changes.reduce((range, change) => change(range), { from, to }) }
  }
  emulator.faults.push({ effect: { name: 'filter', query } })
}

/** Each stream with a range has a row every other day, over 280 days. */
async function startHistory(channels = 1): Promise<TestAccount> {
  const account = await startAccount({ channels, viewers: 5 })
  addRows(account.emulator, 140, (n) => account.hoursAgo(1) - n * 2 * DAY)
  return account
}

/** Each stream with a range has `rows` rows on each of `evenings` evenings, from 20:00 on, and no others. */
async function startEvenings(evenings: number, rows: number): Promise<TestAccount> {
  const account = await startAccount({ channels: 1, viewers: 5 })
  const { channel } = firstRows(account.emulator)
  const others = { records: channel.records.rows.slice(), gifts: channel.gifts.rows.slice() }
  const today = startOf(account.hoursAgo(0))
  const timeOf = (n: number) =>
    today - (1 + Math.floor(n / rows)) * DAY + 20 * 3600 + Math.floor(((n % rows) * 7200) / rows)
  addRows(account.emulator, evenings * rows, timeOf)
  for (const row of others.records) channel.records.remove(row)
  for (const row of others.gifts) channel.gifts.remove(row)
  return account
}

const [refused, coded] = [refusal(400001), errcode(40001)]

test.each([
  ['newest', 20, '2026-10-06', 23],
  ['newest', 3, '2026-11-15', 3],
  ['oldest', 20, '2026-10-06', 23],
  ['oldest', 316, '2026-10-06', 23],
  ['none of', 30, '2026-10-06', 23],
  ['none of', 8, '2026-10-06', 23],
] as const)('all is read from a service that shortens ranges to: %s %i days', async (which, days, from, rows) => {
  await using account = await startHistory()
  const { emulator, database, run } = account
  if (which === 'oldest') emulator.switches.rowOrder = 'time-asc'
  filterBy(account, shortenedTo(days, which))
  expect(await run(backfill, ['--from', from, ...onlyVisits])).toMatchObject({ code: 0 })
  const visits = await readStreamTable(database.db, 'watch_records')
  expect(visits.filter((row) => Math.floor(Number(row.record_id) / 1000) === 900)).toHaveLength(rows)
  for (let night = 0; night < 3; night++) {
    account.clock.passHours(24)
    expect(await account.sync(wanted, { LIVEHOUSE_HISTORY_FROM: '2026-01-01' })).toMatchObject({ code: 0 })
    await account.expectTruth(STREAMS)
  }
  expect(await run(audit, wanted)).toMatchObject({ code: 0 })
})

test.each(['gives nothing of', 'refuses'])(
  'all is read from a service that %s a range that ends in the future',
  async (how) => {
    await using account = await startHistory(3)
    const { channel, record, gift } = firstRows(account.emulator)
    let isFuture = false
    const query = (asked: ListQuery): ListQuery => {
      isFuture = (asked.to ?? 0) > account.hoursAgo(0)
      return isFuture && how !== 'refuses' ? { ...asked, to: asked.from } : asked
    }
    const answer = (given: Answer) => (isFuture && how === 'refuses' ? (coded.answer?.(given) ?? given) : given)
    account.emulator.faults.push({ effect: { name: 'now', query, answer } })
    for (let night = 0; night < 3; night++) {
      expect(await account.sync(wanted)).toMatchObject({ code: 0 })
      await account.expectTruth(STREAMS)
      account.clock.passHours(24)
      const [recordId, at] = [String(800_000 + night), account.hoursAgo(3)]
      channel.records.add({ ...record, recordId, enteredAt: at, leftAt: at })
      channel.gifts.add({ ...gift, givenAt: at })
    }
  },
)

test('rows before a pause are not marked as removed where only the newest 90 days of a range are served', async () => {
  await using account = await startHistory()
  const { emulator, clock, database, run } = account
  expect(await account.sync(wanted)).toMatchObject({ code: 0 })
  clock.passHours(120 * 24)
  const { gifts } = firstChannel(emulator)
  // After the pause there is one gift and no signup.
  gifts.add({ ...first(gifts.rows), giftId: 1, givenAt: account.hoursAgo(1) })
  filterBy(account, shortenedTo(90))
  for (let reading = 0; reading < 4; reading++) {
    clock.passHours(2)
    expect(await run(backfill, ['--from', '2025-06-01', '--streams', 'gifts,signups'])).toMatchObject({ code: 0 })
  }
  for (const stream of ['gifts', 'signups'])
    expect(await readStreamTable(database.db, stream, { isRemoved: true }), stream).toEqual([])
  await account.expectTruth(STREAMS)
})

test('both empty ends of a long range are requested once, and a refusal of that is no error', async () => {
  await using account = await startHistory()
  let probes = 0
  let isProbe = false
  let longest = 0
  const query = (each: ListQuery) => {
    const length = (each.to ?? 0) - (each.from ?? 0)
    isProbe = length < longest
    longest = Math.max(longest, length)
    if (isProbe) probes++
    return each
  }
  const answer = (given: Answer) => (isProbe ? (refused.answer?.(given) ?? given) : given)
  account.emulator.faults.push({ effect: { name: 'refused', query, answer } })
  for (let night = 0; night < 3; night++) {
    account.clock.passHours(24)
    longest = 0
    expect(await account.sync(onlyVisits)).toMatchObject({ code: 0 })
  }
  expect(probes).toBe(2)
  await account.expectTruth(['watch_records'])
})

test.each([
  ['whole days', 31],
  ['an end in whole days', 31],
  ['days, the last one excluded', 7],
] as const)('all is read from a service that filters by %s and serves the newest %i days', async (name, days) => {
  await using account = await startEvenings(60, 12)
  filterBy(account, filters[name], shortenedTo(days))
  for (let night = 0; night < 3; night++) {
    expect(await account.sync(wanted)).toMatchObject({ code: 0 })
    account.clock.passHours(24)
    if (night !== 1) await account.expectTruth(STREAMS)
  }
})

test.each(Object.entries(filters))('filtered by %s, long lists are read in few calls', async (_, filter) => {
  await using account = await startEvenings(60, 40)
  const { channel, record } = firstRows(account.emulator)
  const today = startOf(account.hoursAgo(0))
  // Also early in a day, just before the part in which rows still change.
  for (const day of [3, 4, 5]) {
    const at = today - day * DAY + 1800
    for (const n of [1, 2])
      channel.records.add({ ...record, recordId: String(800_000 + day * 10 + n), enteredAt: at, leftAt: at })
  }
  filterBy(account, filter)
  for (let night = 0; night < 3; night++) {
    account.emulator.calls.length = 0
    expect(await account.sync(wanted)).toMatchObject({ code: 0 })
    expect(account.emulator.calls.length).toBeLessThan(night === 0 ? 400 : 100)
    account.clock.passHours(24)
  }
  await account.expectTruth(STREAMS)
})

test('a long list is read to its end where the filter goes by minutes within a day and by days otherwise', async () => {
  await using account = await startEvenings(30, 300)
  const byDays: Filter = ({ from, to }) => ({ from: startOf(from), to: startOf(to) - 1 })
  filterBy(account, (range) => (startOf(range.from) === startOf(range.to) ? range : byDays(range)))
  expect(await account.sync('gifts')).toMatchObject({ code: 0 })
  await account.expectTruth(['gifts'])
})

// Without an order, nothing shows that the service filters by days: the list is read no further, and the run is red.
test.each([
  ['time-asc', 0, 1000],
  ['time-desc', 0, 1000],
  ['shuffled', 3, 1500],
] as const)('whole days too long for one part, %s, exit with %i after fewer than %i calls', async (...row) => {
  const [rowOrder, code, calls] = row
  await using account = await startEvenings(3, 900)
  account.emulator.switches.rowOrder = rowOrder
  account.emulator.faults.push({ effect: clampedTo(10) })
  filterBy(account, filters['whole days'])
  expect(await account.sync(code === 0 ? 'watch_records' : 'watch_records,gifts')).toMatchObject({ code })
  expect(account.emulator.calls.length).toBeLessThan(calls)
  if (code === 0) await account.expectTruth(['watch_records'])
})

test('filtered by days, neither a round number of visits a day nor a sync amid an evening is red', async () => {
  await using account = await startEvenings(10, 100)
  filterBy(account, filters['whole days'])
  for (let night = 0; night < 5; night++) {
    account.clock.passHours(night === 0 ? 6.2 : 24)
    account.emulator.calls.length = 0
    expect(await account.sync(wanted)).toMatchObject({ code: 0 })
    expect(account.emulator.calls.filter(({ endpoint }) => endpoint === 'userRecordList').length).toBeLessThan(60)
  }
  await account.expectTruth(STREAMS)
})

// A round total may be the most that the service counts; with a large one the list is cut.
test.each([300, 30_000])('a total of %i of another range costs few calls, and may prove signups', async (total) => {
  await using account = await startEvenings(60, 5)
  for (const endpoint of ['userRecordList', 'signupRecord'])
    account.emulator.faults.push({ effect: constantTotal(total), endpoint })
  const code = total === 300 ? 0 : 3
  for (const stream of ['watch_records', 'signups', 'signups']) {
    const before = account.emulator.calls.length
    const settings = stream === 'signups' ? { LIVEHOUSE_HISTORY_FROM: '2026-10-31' } : {}
    expect(await account.sync(`questionnaires,${stream}`, settings)).toMatchObject({ code })
    expect(account.emulator.calls.length - before).toBeLessThan(200)
    account.clock.passHours(20)
  }
  expect(await account.run(audit, ['--streams', 'signups'])).toMatchObject({ code })
})
