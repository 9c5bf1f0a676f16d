import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { DAY, wallTimeAt } from '../../src/core/wall-clock.ts'
import type { ListQuery } from '../../src/emulator/params.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { constantTotal } from '../helpers/fault-effects.ts'
import { addRowsAt, firstRows } from '../helpers/first-rows.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/furnish.ts'

const startOf = (time: number) => Math.floor(time / DAY) * DAY

/** What becomes of a range that is asked for. */
type Filter = (range: { from: number; to: number }) => { from: number; to: number }
const filters = {
  'whole days': ({ from, to }) => ({ from: startOf(from), to: startOf(to) + DAY - 1 }),
  'an end of whole days': ({ from, to }) => ({ from, to: startOf(to) + DAY - 1 }),
  'days, the last one excluded': ({ from, to }) => ({ from, to: startOf(to) - 1 }),
} satisfies Record<string, Filter>

/** Of longer ranges only the newest days are served. */
const newest =
  (days: number): Filter =>
  ({ from, to }) => ({ from: Math.max(from, to - days * DAY), to })

function filterBy({ emulator }: TestAccount, ...changes: readonly Filter[]): void {
  const query = (asked: ListQuery): ListQuery => {
    const { from, to } = asked
    if (from === undefined || to === undefined) return asked
    return { ...asked, ...changes.reduce((range, change) => change(range), { from, to }) }
  }
  emulator.faults.push({ effect: { name: 'filter', query } })
}

/** Of each stream with a range so many rows on each of so many evenings, from 20:00 on. */
async function startEvenings(evenings: number, rows: number): Promise<TestAccount> {
  const account = await startAccount({ channels: 1, viewers: 5 })
  const { emulator, clock } = account
  const { channel } = firstRows(emulator)
  const others = { records: channel.records.rows.slice(), gifts: channel.gifts.rows.slice() }
  const today = startOf(wallTimeAt(clock.nowMs, 'Asia/Shanghai'))
  const timeOf = (n: number) =>
    today - (1 + Math.floor(n / rows)) * DAY + 20 * 3600 + Math.floor(((n % rows) * 7200) / rows)
  const times = Array.from({ length: evenings * rows }, (_, n) => timeOf(n))
  addRowsAt(emulator, times)
  for (const row of others.records) channel.records.remove(row)
  for (const row of others.gifts) channel.gifts.remove(row)
  return account
}

const STREAMS = ['watch_records', 'gifts', 'signups'] as const
const wanted = ['--streams', ['questionnaires', ...STREAMS].join()]

test.each([
  ['whole days', 31],
  ['an end of whole days', 31],
  ['days, the last one excluded', 31],
  ['days, the last one excluded', 7],
] as const)('of a service that filters by %s, and serves the newest %i days, all is read', async (name, days) => {
  await using account = await startEvenings(60, 12)
  filterBy(account, filters[name], newest(days))
  for (let night = 0; night < 3; night++) {
    expect(await account.run(sync, wanted)).toMatchObject({ code: 0 })
    account.clock.nowMs += DAY * 1000
    if (night === 0) await expectTruth(account, STREAMS)
  }
  await expectTruth(account, STREAMS)
})

test.each(['whole days', 'an end of whole days', 'days, the last one excluded'] as const)(
  'of a service that filters by %s, long lists are read with few calls more',
  async (name) => {
    // Also in the first minutes of a day, just before the part in which rows still change.
    await using account = await startEvenings(60, 40)
    const { channel, record } = firstRows(account.emulator)
    const today = startOf(wallTimeAt(account.clock.nowMs, 'Asia/Shanghai'))
    const early = [3, 4, 5].flatMap((day) => [1, 2].map((n) => ({ day, n })))
    const times = early.map(({ day, n }) => ({
      recordId: String(800_000 + day * 10 + n),
      at: today - day * DAY + 1800,
    }))
    channel.records.add(...times.map(({ recordId, at }) => ({ ...record, recordId, enteredAt: at, leftAt: at })))
    filterBy(account, filters[name])
    for (let night = 0; night < 3; night++) {
      account.emulator.calls.length = 0
      expect(await account.run(sync, wanted)).toMatchObject({ code: 0 })
      expect(account.emulator.calls.length).toBeLessThan(night === 0 ? 400 : 100)
      account.clock.nowMs += DAY * 1000
    }
    await expectTruth(account, STREAMS)
  },
)

test('of a service that goes by minutes within a day and by days otherwise, a long list is read whole', async () => {
  await using account = await startEvenings(30, 300)
  const byDays: Filter = ({ from, to }) => ({ from: startOf(from), to: startOf(to) - 1 })
  filterBy(account, (range) => (startOf(range.from) === startOf(range.to) ? range : byDays(range)))
  expect(await account.run(sync, ['--streams', 'gifts'])).toMatchObject({ code: 0 })
  await expectTruth(account, ['gifts'])
})

test.each(['time-asc', 'time-desc'] as const)(
  'of whole days that are too long for one part, %s, all are read',
  async (order) => {
    await using account = await startEvenings(3, 900)
    account.emulator.switches.rowOrder = order
    account.emulator.faults.push({ effect: clampedTo(10) })
    filterBy(account, filters['whole days'])
    expect(await account.run(sync, ['--streams', 'watch_records'])).toMatchObject({ code: 0 })
    expect(account.emulator.calls.length).toBeLessThan(1000)
    await expectTruth(account, ['watch_records'])
  },
)

test('of whole days in no order that are too long for one part, each part is not the whole day again and again', async () => {
  await using account = await startEvenings(3, 900)
  account.emulator.switches.rowOrder = 'shuffled'
  account.emulator.faults.push({ effect: clampedTo(10) })
  filterBy(account, filters['whole days'])
  // Nothing shows that the service goes by days: what is told of is read no further, and is red.
  expect(await account.run(sync, ['--streams', 'watch_records,gifts'])).toMatchObject({ code: 3 })
  expect(account.emulator.calls.length).toBeLessThan(1500)
})

test('a round number of visits on one day is no limit where the service goes by days', async () => {
  await using account = await startEvenings(10, 100)
  filterBy(account, filters['whole days'])
  for (let night = 0; night < 5; night++) {
    account.emulator.calls.length = 0
    expect(await account.run(sync, ['--streams', 'watch_records'])).toMatchObject({ code: 0 })
    expect(account.emulator.calls.length).toBeLessThan(60)
    account.clock.nowMs += DAY * 1000
  }
  await expectTruth(account, ['watch_records'])
})

// Rounded, it may be the most that the service counts; a large one has the list cut.
test.each([300, 1000, 30_000])(
  'a total of %i of another range than was asked for is told with few calls',
  async (total) => {
    await using account = await startEvenings(60, 5)
    for (const endpoint of ['userRecordList', 'signupRecord'])
      account.emulator.faults.push({ effect: constantTotal(total), endpoint })
    for (const stream of ['watch_records', 'signups']) {
      const before = account.emulator.calls.length
      expect(await account.run(sync, ['--streams', `questionnaires,${stream}`])).toMatchObject({
        code: total === 300 ? 0 : 3,
      })
      expect(account.emulator.calls.length - before).toBeLessThan(200)
    }
  },
)
