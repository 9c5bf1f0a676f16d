import { expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import { DAY, formatWallDate, MINUTE } from '../../src/core/wall-clock.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { changedRows, meanwhile } from '../helpers/fault-effects.ts'
import { addRows, first, firstChannel, firstRows } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/add-odd-rows.ts'

const account = ofTest(() => startAccount({ channels: 1, viewers: 5 }))

/** Adds `count` visits, gifts and signups, one of each every twenty minutes into the past. */
function addEarlier(count: number): void {
  addRows(account.emulator, count, (n) => account.hoursAgo(1) - n * 20 * MINUTE)
}

/** The service filters by a time that is `seconds` off from the one it shows, as in another zone. */
const filterOffBy = (seconds: number): FaultEffect => ({
  name: 'another clock',
  query: (query) => {
    const { from, to } = query
    return from === undefined || to === undefined ? query : { ...query, from: from + seconds, to: to + seconds }
  },
})

test.each([
  ['a quarter of an hour ahead', 15 * MINUTE],
  ['a quarter of an hour behind', -15 * MINUTE],
])('no row is marked as removed where the service filters by a clock %s', async (_, seconds) => {
  addEarlier(300)
  account.emulator.faults.push({ effect: filterOffBy(seconds) })
  for (let night = 0; night < 5; night++) {
    expect(await account.sync('questionnaires,gifts,signups')).toMatchObject({ code: 0 })
    await account.expectTruth(['gifts', 'signups'])
    expect(await readStreamTable(account.database.db, 'signups', { isRemoved: true })).toEqual([])
    account.clock.passHours(24)
  }
})

test('a list too long for one reading is not cut by a filter that uses another clock', async () => {
  addEarlier(300)
  account.emulator.faults.push({ effect: clampedTo(2) }, { effect: filterOffBy(60 * MINUTE) })
  const { code, errors } = await account.sync('gifts')
  expect([code, errors[0].code]).toEqual([3, 'paging.ignored'])
  expect(errors[0].message).toContain('filters by another time than it shows')
  expect(await readStreamTable(account.database.db, 'gifts')).toEqual([])

  account.emulator.faults.splice(1)
  expect(await account.sync('gifts')).toMatchObject({ code: 0 })
  await account.expectTruth(['gifts'])
})

test('a withdrawn gift is marked as removed even where only short ranges are served', async () => {
  addEarlier(60)
  const { gifts } = firstChannel(account.emulator)
  account.emulator.switches.longestWindowDays = 1.5
  for (let night = 0; night < 4; night++) {
    expect(await account.sync('gifts', { LIVEHOUSE_HISTORY_FROM: '2026-11-15' })).toMatchObject({ code: 0 })
    if (night === 0) gifts.remove(first(gifts.rows.filter(({ giftId }) => giftId === 900_001)))
    account.clock.passHours(12)
  }
  expect(await readStreamTable(account.database.db, 'gifts', { isRemoved: true })).toHaveLength(1)
})

test('ongoing visits, filtered by their end, are read in four calls, and an hour later are no drop', async () => {
  const { emulator, clock, hoursAgo } = account
  emulator.switches.recordFilterTime = 'leave'
  const { channel, record } = firstRows(emulator)
  const times = () => ({ enteredAt: hoursAgo(0.5), leftAt: hoursAgo(0) })
  for (let n = 0; n < 250; n++) channel.records.add({ ...record, ...times(), recordId: String(800_000 + n) })
  const extendVisits = () => {
    clock.nowMs += 1000
    for (const row of channel.records.rows.slice(-250)) channel.records.replace(row, { ...row, leftAt: hoursAgo(0) })
  }
  emulator.faults.push({ effect: meanwhile(extendVisits), endpoint: 'userRecordList' })
  expect(await account.sync('watch_records')).toMatchObject({ code: 0, streams: { watch_records: { calls: 4 } } })
  clock.nowMs += 3_600_000 - (clock.nowMs % 60_000)
  expect(await account.sync('watch_records')).toMatchObject({ code: 0, errors: [] })
})

test.each([
  [0, { code: 0, streams: { watch_records: { inserted: 41 } } }],
  [-480, { code: 3, errors: [{ code: 'paging.ignored' }] }],
])('visits filtered by a time not shown land, but not by a clock %i minutes off', async (minutes, outcome) => {
  const { channel, record } = firstRows(account.emulator)
  const shown = { first_login_time: '2026-11-15 10:00', last_online_time: '2026-11-15 10:05' }
  const late = (item: unknown) => ({ ...Object(item), ...(Object(item).nick === 'late' && shown) })
  account.emulator.faults.push({ effect: { ...changedRows(late), ...filterOffBy(minutes * MINUTE) } })
  await account.sync('watch_records')
  account.clock.passHours(24)
  const at = (hours: number) => ({ enteredAt: account.hoursAgo(hours), leftAt: account.hoursAgo(hours) })
  channel.records.add({ ...record, ...at(1), recordId: '9000' })
  for (let n = 1; n < 41; n++) channel.records.add({ ...record, ...at(10), nick: 'late', recordId: `90000${n}` })
  expect(await account.sync('watch_records')).toMatchObject(outcome)
})

test.each([60, 7])('visits across bounds land where %i-day ranges show only visits within', async (days) => {
  Object.assign(account.emulator.switches, { recordFilterTime: 'both', longestWindowDays: days })
  const { channel, record } = firstRows(account.emulator)
  const midnight = (ago: number) => account.hoursAgo(ago * 24 + 14.5)
  const add = (enteredAt: number) =>
    channel.records.add({ ...record, recordId: String(enteredAt), enteredAt, leftAt: enteredAt + 5400 })
  for (let hours = 3; hours < 27 * 24; hours += 3) add(account.hoursAgo(hours))
  // Two adjacent ranges, the later one first, and one before them. An empty range would be read again.
  for (const ago of [9, 15, 27]) {
    add(midnight(ago) + DAY / 2)
    const [from, to] = [ago, ago - 6].map((each) => formatWallDate(midnight(each)))
    const range = ['--streams=watch_records', `--from=${from}`, `--to=${to}`]
    expect(await account.run(backfill, range)).toMatchObject({ code: 0 })
  }
  expect(await account.sync('watch_records', { LIVEHOUSE_HISTORY_FROM: '2026-10-01' })).toMatchObject({ code: 0 })
  await account.expectTruth(['watch_records'])
})
