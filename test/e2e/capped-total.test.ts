import { expect, test } from 'vitest'
import { audit } from '../../src/cli/audit.ts'
import { backfill } from '../../src/cli/backfill.ts'
import { DAY, formatWallDate, parseWallTime } from '../../src/core/wall-clock.ts'
import { type Answer, answerWith } from '../../src/emulator/answer.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import type { ListQuery } from '../../src/emulator/params.ts'
import { ROWS, startLists, syncStreams } from '../helpers/capped-lists.ts'
import { meanwhile, whereAsked, withheldRows } from '../helpers/fault-effects.ts'
import { firstRows } from '../helpers/first-rows.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount } from '../helpers/start-account.ts'

test.each([
  [10, 10],
  [25, 10],
  [20, 100],
])('no row is lost from lists whose total stops at %i; %i rows a page', async (largestTotal, size) => {
  await using account = await startLists(largestTotal, 2, ROWS, size)
  const { code, errors, streams } = await syncStreams(account)
  expect([code, errors]).toEqual([0, []])
  expect(streams.visitors.slices).toMatchObject({ verified: 0, moving: 1 })
  expect([streams.watch_records.slices.moving, streams.signups.slices.moving]).toEqual([0, 0])
  await account.expectTruth(['visitors', 'watch_records', 'signups'])
  expect(await account.run(audit, ['--streams', 'visitors'])).toMatchObject({ code: 0 })

  const { channel, visitor } = firstRows(account.emulator)
  channel.visitors.remove(visitor)
  for (let night = 0; night < 3; night++) expect(await syncStreams(account, 'visitors')).toMatchObject({ code: 0 })
  expect(await readStreamTable(account.database.db, 'visitors', { isRemoved: true })).toEqual([])
})

test.each(['empty', 'error'] as const)('no row past 1,000 is lost; a page there: %s', async (beyondLastPage) => {
  await using account = await startLists(1000, 2, 1300, Infinity)
  Object.assign(account.emulator.switches, { hidesBehindTotal: true, beyondLastPage })
  const { code, errors, streams } = await syncStreams(account, 'watch_records,questionnaires,signups')
  expect([code, errors]).toEqual([0, []])
  expect([streams.watch_records.slices.moving, streams.signups.slices.moving]).toEqual([0, 0])
  await account.expectTruth(['watch_records', 'signups'])
})

test('no record is lost from a range of few days that shows only 500', async () => {
  await using account = await startLists(500, 2, 700, Infinity)
  Object.assign(account.emulator.switches, { hidesBehindTotal: true })
  const from = formatWallDate(account.hoursAgo(5 * 24))
  expect(await account.run(backfill, ['--streams', 'watch_records', '--from', from])).toMatchObject({ code: 0 })
  const held = (await readStreamTable(account.database.db, 'watch_records')).map(({ record_id: id }) => Number(id))
  expect(held.filter((id) => id >= 900_000 && id < 900_700)).toHaveLength(700)
})

test('no visit is lost from a minute with a capped total and an order that changes by page', async () => {
  await using account = await startLists(20, 101, 101, Infinity)
  account.emulator.switches.ties = 'by-page'
  expect(await syncStreams(account, 'watch_records')).toMatchObject({ code: 0, errors: [] })
  await account.expectTruth(['watch_records'])
})

test('a round total that grows with the next call is no cap: a visit across the middle lands at once', async () => {
  await using account = await startLists(10_000, 2, 1, Infinity)
  const { channel, record } = firstRows(account.emulator)
  for (const each of channel.records.rows.slice()) channel.records.remove(each)
  account.emulator.switches.recordFilterTime = 'both'
  const now = account.hoursAgo(0)
  const add = (recordId: number, enteredAt: number, leftAt = enteredAt + 30) =>
    channel.records.add({ ...record, recordId: String(recordId), enteredAt, leftAt })
  for (let visit = 1; visit < 97; visit++) add(visit, now - 3600 - visit * 600)
  add(100, now - 15 * 86_400, now - 4 * 86_400)
  let late = 100
  const arrive = meanwhile(() => {
    for (let more = 0; more < 3 && late < 112; more++) add(++late, now - 7200 - late)
  })
  account.emulator.faults.push({ effect: arrive, endpoint: 'userRecordList' })
  const from = formatWallDate(now - 20 * DAY)
  expect(await account.run(backfill, ['--streams', 'watch_records', '--from', from])).toMatchObject({ code: 0 })
  expect((await readStreamTable(account.database.db, 'watch_records')).map(({ record_id: id }) => id)).toContain('100')
})

test('a range is not cut if its total is a round number and all those rows come', async () => {
  await using account = await startLists(10_000, 2, 1000, Infinity)
  const { records } = firstRows(account.emulator).channel
  const others = records.rows.filter(({ recordId }) => Math.floor(Number(recordId) / 10_000) !== 90)
  for (const each of others) records.remove(each)
  expect(await account.sync('watch_records')).toMatchObject({ code: 0 })
  await account.expectTruth(['watch_records'])
  // Ten pages, two empty ones, a look before the range, and two counts for each of 14 times that one half has all rows.
  expect(account.emulator.calls.filter(({ params }) => 'start_time' in params)).toHaveLength(13 + 28)
})

test('a minute with more rows than its total is not claimed: it is moving, or short and reported', async () => {
  await using account = await startLists(20, ROWS)
  const { code, errors, streams } = await syncStreams(account)
  expect(code).toBe(3)
  const message = expect.stringContaining('the source says 20, but 130 rows came, so its total is wrong')
  expect(errors[0]).toMatchObject({ stream: 'signups', code: 'slice.short', message })
  expect(new Set(errors.map(({ stream }: { stream: string }) => stream))).toEqual(new Set(['signups']))
  expect(streams.watch_records.slices).toMatchObject({ short: 0, failed: 0 })
  expect(streams.watch_records.slices.moving).toBeGreaterThan(0)
  await account.expectTruth(['visitors', 'watch_records'])
  account.emulator.switches.largestTotal = ROWS
  expect(await syncStreams(account)).toMatchObject({ code: 0, errors: [] })
  await account.expectTruth(['watch_records', 'signups'])
})

test.each([
  ['time-desc', 1],
  ['time-desc', 12],
  ['time-asc', 3],
] as const)('no gift is missed where answers show only 1,000: %s, %i a minute', async (order, each) => {
  await using account = await startAccount({ channels: 1 })
  const { channel, gift } = firstRows(account.emulator)
  const at = parseWallTime('2026-11-10 20:00:00') ?? 0
  for (let n = 0; n < 1700; n++) channel.gifts.add({ ...gift, giftId: n, givenAt: at + Math.floor(n / each) * 60 })
  account.emulator.switches.rowOrder = order
  let remaining = 0
  const newest = withheldRows(() => remaining-- <= 0)
  const query = (asked: ListQuery) => {
    remaining = 1000 - (asked.page - 1) * asked.pageSize
    return asked
  }
  account.emulator.faults.push({ effect: { ...newest, query }, endpoint: 'giftRunning' })
  const range = ['--from', '2026-11-05', '--to', '2026-11-13', '--streams', 'gifts']
  expect(await account.run(backfill, range)).toMatchObject({ code: 0 })
  expect((await readStreamTable(account.database.db, 'gifts')).length).toBeGreaterThanOrEqual(1700)
  for (let night = 0; night < 3; night++) {
    account.clock.passHours(24)
    expect(await account.sync('gifts')).toMatchObject({ code: 0 })
    await account.expectTruth(['gifts'])
  }
})

function laterPagesWithoutTotal(): FaultEffect {
  const isTotal = (name: string) => ['total_num', 'total', 'count'].includes(name)
  const answer = (given: Answer): Answer => {
    const { body } = given
    if (body.kind !== 'list') return given
    const envelope = body.envelope(body.items(), body.total)
    const text = JSON.stringify(envelope, (name, value: unknown) => (isTotal(name) ? undefined : value))
    return answerWith({ kind: 'text', contentType: 'application/json', text })
  }
  return whereAsked(({ page }) => page > 1, { name: 'later pages without total', answer })
}

test('lists that give their total only on page 1 are read and proven by it', async () => {
  await using account = await startLists(ROWS * 2, 2)
  account.emulator.faults.push({ effect: laterPagesWithoutTotal() })
  const { code, errors, streams } = await syncStreams(account)
  expect([code, errors]).toEqual([0, []])
  for (const name of ['visitors', 'watch_records', 'signups']) expect(streams[name].slices.moving).toBe(0)
  await account.expectTruth(['visitors', 'watch_records', 'signups'])

  account.emulator.faults.unshift({ effect: withheldRows((item) => JSON.stringify(item).includes('v77')) })
  expect(await syncStreams(account, 'visitors')).toMatchObject({ code: 3, errors: [{ code: 'slice.short' }] })
})
