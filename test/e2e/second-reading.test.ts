import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import { run } from '../../src/cli/run.ts'
import { status } from '../../src/cli/status.ts'
import { formatWallTime } from '../../src/core/wall-clock.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { missingRow, noRows, refusal, withheldRows } from '../helpers/fault-effects.ts'
import { first, firstChannel, firstRows } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount } from '../helpers/start-account.ts'
import { createJobsFolder } from '../helpers/temporary-folder.ts'

const DAY_MS = 86_400_000
const unproven = 'gifts,questionnaires,signups'

const account = ofTest(() => startAccount({ viewers: 150 }))

async function readAfter(hours: number, names = 'gifts') {
  account.clock.passHours(hours)
  const { code, errors, streams } = await account.sync(names)
  expect(code, JSON.stringify(errors)).toBe(0)
  return streams.gifts?.slices
}

/** Adds a gift a minute to the first channel, two pages of them; the last one was `hours` ago. */
function addTwoPages(hours: number): void {
  const { gifts } = firstChannel(account.emulator)
  const last = account.hoursAgo(hours)
  for (let minute = 0; minute < 130; minute++) gifts.add({ ...first(gifts.rows), givenAt: last - minute * 60 })
}

/** The first days of the ranges of gifts that were requested after the first `calls` calls; each day once. */
function daysRequestedSince(calls: number): readonly string[] {
  const days = account.emulator.calls.slice(calls).map(({ params }) => String(params.startTime).slice(0, 10))
  return [...new Set(days)].sort()
}

async function readProven() {
  const proven = sql`select distinct last_proof, is_proven from livehouse_bi.freshness where stream = 'gifts'`
  return (await proven.execute(account.database.db)).rows
}

/** The number of gifts marked as removed, and of signups. */
async function countRemoved(): Promise<readonly number[]> {
  const { db } = account.database
  const rows = await Promise.all(['gifts', 'signups'].map((name) => readStreamTable(db, name, { isRemoved: true })))
  return rows.map(({ length }) => length)
}

test.each<[string, FaultEffect]>([
  ['blank', noRows()],
  ['halved', withheldRows((item) => JSON.stringify(item).length % 2 === 0)],
])('a %s first answer of a list without a total is corrected an hour later, and then agreed', async (_, effect) => {
  account.emulator.faults.push({ effect, endpoint: 'giftRunning' })
  expect(await readAfter(0)).toMatchObject({ unverifiable: 4, agreed: 0 })
  account.emulator.faults.splice(0)
  await expect(account.expectTruth(['gifts'])).rejects.toThrow('gifts')

  expect(await readAfter(1)).toMatchObject({ unverifiable: 4 })
  await account.expectTruth(['gifts'])
  expect(await readAfter(1)).toMatchObject({ unverifiable: 4, agreed: 4 })
})

test('an empty answer is not believed merely because some of its rows were missing before', async () => {
  addTwoPages(1)
  await readAfter(0)
  const read = async (effect: FaultEffect) => {
    account.clock.passHours(2)
    account.emulator.faults.splice(0, 1, { effect, endpoint: 'giftRunning' })
    return (await account.sync('gifts')).code
  }
  const withoutSome = withheldRows((item) => /[05]:\d\d$/.test(String(Object(item).uptime)))
  expect([await read(withoutSome), await read(withoutSome), await read(noRows())]).toEqual([3, 0, 3])
})

test('the history of gifts is read a second time after an hour, and then no more', async () => {
  await readAfter(0)
  const soon = account.emulator.calls.length
  expect(await readAfter(0.5)).toMatchObject({ agreed: 0 })
  expect(daysRequestedSince(soon)).not.toContain('2014-12-31')

  const later = account.emulator.calls.length
  expect(await readProven()).toEqual([{ last_proof: 'unverifiable', is_proven: false }])
  expect(await readAfter(1)).toMatchObject({ agreed: 4, unverifiable: 4 })
  expect(await readProven()).toEqual([{ last_proof: 'agreed', is_proven: true }])
  const partitions = { agreed: 4, unverifiable: 0 }
  expect(await account.runJson(status)).toMatchObject({ streams: { gifts: { partitions } } })
  // Whether the newest days of a list are also requested by themselves depends on which list comes first.
  expect(daysRequestedSince(later).filter((day) => day < '2026-11')).toEqual(['2014-12-31'])
  const after = account.emulator.calls.length
  await readAfter(24)
  expect(daysRequestedSince(after)).toEqual(['2026-11-19'])
  expect(account.emulator.calls.length - after).toBe(7)
})

test('neither another list nor a reading that failed agrees with the first reading of a list', async () => {
  const channelId = first(account.emulator.channelIds)
  account.emulator.faults.push({ effect: refusal(400001), endpoint: 'giftRunning', channelId })
  expect(await account.sync('gifts')).toMatchObject({ code: 3 })
  account.emulator.faults.length = 0
  expect(await readAfter(1)).toMatchObject({ agreed: 2, unverifiable: 4 })
})

test('a row lost between two pages comes with the second reading, which has other page boundaries', async () => {
  addTwoPages(240)
  account.emulator.faults.push({ effect: missingRow(), endpoint: 'giftRunning', page: 2 })
  await readAfter(0)
  await expect(account.expectTruth(['gifts'])).rejects.toThrow('gifts')
  await readAfter(1)
  await account.expectTruth(['gifts'])
  await readAfter(1)
  expect(await countRemoved()).toEqual([0, 0])
})

test('withdrawn rows are marked even beyond the lookback, and their ranges settle with the next readings', async () => {
  const channel = firstChannel(account.emulator)
  const { signups } = first(channel.questionnaires.rows)
  await readAfter(0, unproven)
  const gift = first(channel.gifts.rows.slice(-1))
  channel.gifts.remove(gift)
  signups.remove(first(signups.rows.slice(-1)))
  const marks: unknown[] = []
  for (let night = 0; night < 3; night++) {
    await readAfter(72, unproven)
    marks.push(...(await countRemoved()))
  }
  expect(marks).toEqual([0, 0, 1, 1, 1, 1])
  account.clock.passHours(3 * 24)
  const young = account.hoursAgo(1)
  for (const { gifts, questionnaires } of account.emulator.world.channels.values()) {
    gifts.add({ ...first(gifts.rows), type: gift.type, givenAt: young })
    const { signups: others } = first(questionnaires.rows)
    others.add({ ...first(others.rows), signedUpAt: young })
  }
  await readAfter(0, unproven)
  const fiveDaysAgo = sql`${new Date(account.clock.nowMs - 5 * DAY_MS)} at time zone 'Asia/Shanghai'`
  const unsettled = sql`select stream, partition from livehouse_ops.slices where stream in ('gifts', 'signups')
    group by stream, partition having not bool_or(coalesce(settled @> ${fiveDaysAgo}, false))`
  expect((await unsettled.execute(account.database.db)).rows).toEqual([])
})

test('rows missing on three nights of empty answers are back with the first night that has them', async () => {
  const { channel, gift, form, signup } = firstRows(account.emulator)
  channel.gifts.add({ ...gift, givenAt: account.hoursAgo(1) })
  form.signups.add({ ...signup, signedUpAt: account.hoursAgo(1) })
  await readAfter(0, unproven)
  for (const endpoint of ['giftRunning', 'signupRecord']) account.emulator.faults.push({ effect: noRows(), endpoint })
  for (let night = 0; night < 3; night++) await readAfter(24, unproven)
  expect(Math.min(...(await countRemoved()))).toBeGreaterThan(0)
  account.emulator.faults.splice(0)
  await readAfter(24, unproven)
  expect(await countRemoved()).toEqual([0, 0])
  await account.expectTruth(['gifts', 'signups'])
})

test('a job with a long lookback skips no day that nightly syncs have read and the ledger has merged', async () => {
  await readAfter(0)
  for (let night = 0; night < 12; night++) await readAfter(24)
  const calls = account.emulator.calls.length
  const deep = `export default { cron: '@weekly', streams: ['gifts'], lookbackDays: { gifts: 5 } }`
  const settings = { LIVEHOUSE_JOBS_DIR: createJobsFolder({ deep }) }
  expect(await account.run(run, ['deep'], settings)).toMatchObject({ code: 0 })
  expect(first(daysRequestedSince(calls))).toBe('2026-11-16')
})

test('the next sync reads again a settled range in which a backfill misses a gift, and no other', async () => {
  const { gifts } = firstChannel(account.emulator)
  await readAfter(0)
  await readAfter(1)
  gifts.remove(first(gifts.rows.toSorted((a, b) => a.givenAt - b.givenAt)))
  const range = ['--from', '2026-09-01', '--to', '2026-11-10', '--streams', 'gifts']
  expect(await account.run(backfill, range)).toMatchObject({ code: 0 })
  expect(await countRemoved()).toEqual([0, 0])
  const calls = account.emulator.calls.length
  await readAfter(24)
  expect(await countRemoved()).toEqual([1, 0])
  expect(daysRequestedSince(calls)).not.toContain('2014-12-31')
})

test('an empty answer for one day does not make an empty answer for all days credible', async () => {
  const { records } = firstChannel(account.emulator)
  const record = first(records.rows)
  for (let n = 0; n < 160; n++) {
    const enteredAt = account.hoursAgo(n < 40 ? 30 : 5) - n
    records.add({ ...record, recordId: String(900_000 + n), enteredAt, leftAt: enteredAt })
  }
  await readAfter(0, 'watch_records')
  account.emulator.faults.push({ effect: noRows(), endpoint: 'userRecordList' })
  const [from = '', to = ''] = [34, 10].map((hours) => formatWallTime(account.hoursAgo(hours)).slice(0, 10))
  const filled = account.run(backfill, ['--streams', 'watch_records', '--from', from, '--to', to])
  expect(await filled).toMatchObject({ code: 3 })
  for (const slices of [{ short: 2 }, { verified: 2 }]) {
    account.clock.passHours(2)
    expect(await account.sync('watch_records')).toMatchObject({ streams: { watch_records: { slices } } })
  }
})

test('a visit that was not over when read is read again until it is, unless it had lasted for weeks', async () => {
  const { records } = firstChannel(account.emulator)
  const [record, leftAt] = [first(records.rows), account.hoursAgo(0.5)]
  const visit = { ...record, recordId: '5', enteredAt: leftAt - 5 * 86_400, leftAt }
  records.add(visit, { ...visit, recordId: '40', enteredAt: leftAt - 40 * 86_400 })
  await readAfter(0, 'watch_records')
  records.replace(visit, { ...visit, leftAt: leftAt + 7200 })
  for (const earliest of ['2026-11-15', '2026-11-15', '2026-11-19']) {
    account.emulator.calls.length = 0
    await readAfter(24, 'watch_records')
    await account.expectTruth(['watch_records'])
    const startTimes = account.emulator.calls.map(({ params }) => String(params['start_time']))
    expect(startTimes.toSorted()[0]).toContain(earliest)
  }
})
