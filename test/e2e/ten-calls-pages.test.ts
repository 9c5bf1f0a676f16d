import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import type { ListQuery } from '../../src/emulator/params.ts'
import {
  changedRows,
  jsonBody,
  meanwhile,
  missingRow,
  refusal,
  repeatedPage,
  withheldRows,
} from '../helpers/fault-effects.ts'
import { first, firstChannel } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { startV1Account, V1_BACKFILL } from '../helpers/v1-account.ts'
import { clampedTo } from '../helpers/worlds/add-odd-rows.ts'

const account = ofTest(startV1Account)
const runForDays = async (most = 12) =>
  await account.untilDone(async () => await account.runJson(backfill, V1_BACKFILL), most)

const oldRecords = () => firstChannel(account.emulator).oldRecords
const newestFirst = () => oldRecords().rows.toSorted((a, b) => b.enteredAt - a.enteredAt)

const readIds = async () => {
  const { rows } = await sql<{ id: string }>`
    select record_id as id from livehouse.watch_records`.execute(account.database.db)
  return new Set(rows.map(({ id }) => id))
}

const idOf = (item: unknown) => String(Object(item).record_id)

test('neither a page that lacks a row or the times, nor one that is null or another one once, ends the list', async () => {
  account.setRecords(500)
  account.emulator.faults.push({ effect: missingRow(7), endpoint: 'userRecords', page: 2 })
  account.emulator.faults.push({ effect: jsonBody(null), endpoint: 'userRecords', page: 3, times: 1 })
  account.emulator.faults.push({ effect: repeatedPage(), endpoint: 'userRecords', page: 5, times: 1 })
  const timeless = changedRows((item) => ({ ...Object(item), first_login_time: '', last_online_time: '' }))
  account.emulator.faults.push({ effect: timeless, endpoint: 'userRecords', page: 1 })
  expect(await runForDays()).toMatchObject({ code: 0 })
  expect((await readIds()).size).toBe(499)
})

test.each([
  [200, 'empty', 1],
  [300, 'repeat-last', 1],
  [300, 'repeat-first', 1],
  [1, 'error', 2],
  [2, 'error', 2],
  [198, 'error', 2],
  [200, 'error', 2],
] as const)('a list of %d rows ends; pages past it: %s; days: %d', async (rows, beyondLastPage, days) => {
  Object.assign(account.emulator.switches, { beyondLastPage, emptyLists: 'null' })
  account.setRecords(rows)
  expect(await runForDays()).toMatchObject({ code: 0 })
  await account.expectTruth(['watch_records_v1'])
  expect(account.callsByDay()).toHaveLength(days)
})

test.each([
  [2, [50], 1],
  [3, [150], 1],
  [3, [197, 198, 199], 0],
  [2, [], 1],
] as const)('page %i refused, rows %j withheld, %i deleted: no other is missing', async (page, withheld, deleted) => {
  account.setRecords(250)
  const { emulator } = account
  const rows = newestFirst()
  const isWithheld = (item: unknown) => withheld.some((row) => rows[row]?.recordId === idOf(item))
  emulator.faults.push({ effect: withheldRows(isWithheld) })
  emulator.faults.push({ effect: refusal(400009), endpoint: 'userRecords', page })
  expect(await runForDays(1)).toMatchObject({ code: 4 })
  emulator.faults.pop()
  for (const row of rows.slice(20, 20 + deleted)) oldRecords().remove(row)
  account.nextDay()
  expect(await runForDays()).toMatchObject({ code: 0 })
  expect((await readIds()).size).toBe(250 - withheld.length)
})

test('a refused page is not the end where every smaller page would end with the last row', async () => {
  account.setRecords(16)
  account.emulator.faults.push({ effect: clampedTo(4), endpoint: 'userRecords' })
  account.emulator.faults.push({ effect: refusal(400009), endpoint: 'userRecords', page: 4, times: 1 })
  expect(await runForDays()).toMatchObject({ code: 0 })
  expect((await readIds()).size).toBe(16)
})

test.each<[string, (id?: string) => FaultEffect]>([
  ['an unreadable', (id) => changedRows((item) => (idOf(item) === id ? { ...Object(item), record_id: 'x' } : item))],
  ['a withheld', (id) => withheldRows((item) => idOf(item) === id)],
])('a list with %s record on its last page ends where pages past it are refused', async (_what, effectOn) => {
  account.setRecords(250)
  account.emulator.switches.beyondLastPage = 'error'
  account.emulator.faults.push({ effect: effectOn(newestFirst()[220]?.recordId), endpoint: 'userRecords' })
  await runForDays(5)
  expect(account.callsByDay()).toEqual([4, 3])
  expect((await readIds()).size).toBe(249)
})

test('a service that filters by the dates of a range does not ignore the filter', async () => {
  account.setRecords(400)
  const { faults } = account.emulator
  faults.push({ effect: { name: 'to 23:59', query: ({ to = 0, ...asked }) => ({ ...asked, to: to + 86_280 }) } })
  const argv = ['--from', '2018-09-01', '--to', '2018-10-02', '--streams', 'watch_records_v1']
  expect(await account.run(backfill, argv)).toMatchObject({ code: 0 })
  expect((await readIds()).size).toBe(288)
})

test.each([
  ['the page parameter', {}],
  ['the page parameter and the page size', { pageSize: 20 }],
])('a service that ignores %s is an error, not the end of the list', async (_what, served) => {
  account.setRecords(950)
  const effect = { name: 'ignored', query: (asked: ListQuery) => ({ ...asked, page: 1, ...served }) }
  account.emulator.faults.push({ effect, endpoint: 'userRecords' })
  const withheldId = newestFirst()[50]?.recordId
  account.emulator.faults.push({ effect: withheldRows((item) => idOf(item) === withheldId) })
  expect(await runForDays()).toMatchObject({ code: 3, errors: [{ code: 'paging.ignored' }] })
})

test.each(['time-desc', 'shuffled'] as const)('an old record deleted overnight hides no other (%s)', async (order) => {
  account.emulator.switches.rowOrder = order
  account.setRecords(1500)
  expect(await runForDays(1)).toMatchObject({ code: 4 })
  const read = await readIds()
  const wasRead = oldRecords().rows.filter(({ recordId }) => read.has(recordId))
  oldRecords().remove(first(wasRead.slice(150)))
  account.nextDay()
  expect(await runForDays()).toMatchObject({ code: 0, streams: { watch_records_v1: { slices: { moving: 0 } } } })
  const held = await readIds()
  expect(oldRecords().rows.filter(({ recordId }) => !held.has(recordId))).toEqual([])
  expect(held.size).toBe(1500)
  expect(Math.max(...account.callsByDay())).toBe(10)
})

test('a list that loses a record every night is read to its end within 25 days', async () => {
  account.setRecords(2500)
  const runAndRemove = async () => {
    const { code = 0 } = await account.run(backfill, V1_BACKFILL)
    if (code === 4) oldRecords().remove(first(newestFirst()))
    return { code }
  }
  expect((await account.untilDone(runAndRemove, 25)).code).not.toBe(4)
  const held = await readIds()
  expect(oldRecords().rows.filter(({ recordId }) => !held.has(recordId))).toEqual([])
})

test('a record that arrives while the list is read is not missed: the rows that it shifts reveal it', async () => {
  account.setRecords(450)
  const effect = meanwhile(() => {
    const newest = first(newestFirst())
    oldRecords().add({ ...newest, recordId: '77', userId: 'late', enteredAt: newest.enteredAt + 60 })
  })
  account.emulator.faults.push({ effect, endpoint: 'userRecords', page: 3, times: 1 })
  expect(await runForDays()).toMatchObject({ code: 0 })
  await account.expectTruth(['watch_records_v1'])
})

async function read(version: 1 | 2) {
  const argv = version === 1 ? V1_BACKFILL : [...V1_BACKFILL.slice(0, 4), '--streams', 'watch_records']
  const { code, streams } = await account.runJson(backfill, argv)
  expect(code).toBe(0)
  account.nextDay()
  return streams[version === 1 ? 'watch_records_v1' : 'watch_records']
}

async function readRecord(id: string) {
  const { rows } = await sql`
    select nickname, user_id, assign_id, api_version from livehouse.watch_records
    where record_id = ${id}::bigint`.execute(account.database.db)
  const quarantine = account.database.db.selectFrom('livehouse_ops.quarantine').select(['stream', 'reason'])
  return { row: rows[0], quarantined: await quarantine.orderBy('reason').execute() }
}

test('version 1 inserts rows and updates its own; version 2 takes them over for good', async () => {
  account.setRecords(2, 0)
  const { oldRecords, records } = firstChannel(account.emulator)
  const old = first(oldRecords.rows)
  expect(await read(1)).toMatchObject({ inserted: 2 })
  oldRecords.replace(old, { ...old, nick: 'edited' })
  expect(await read(1)).toMatchObject({ inserted: 0, updated: 1, unchanged: 1 })
  expect(await readRecord(old.recordId)).toMatchObject({ row: { nickname: 'edited', api_version: 1 } })

  records.add({ ...old, nick: 'of version 2', assignId: 'a1' })
  expect(await read(2)).toMatchObject({ inserted: 0, updated: 1 })
  expect(await read(1)).toMatchObject({ inserted: 0, updated: 0, quarantined: 0 })
  expect(await readRecord(old.recordId)).toEqual({
    row: { nickname: 'of version 2', user_id: old.userId, assign_id: 'a1', api_version: 2 },
    quarantined: [],
  })
})

test('a reading of version 1 with far fewer records than the one before is short', async () => {
  account.setRecords(50, 0)
  await read(1)
  for (const record of oldRecords().rows.slice(30)) oldRecords().remove(record)
  expect(await runForDays()).toMatchObject({ code: 3, errors: [{ code: 'slice.short' }] })
})

test.each([[[1, 2]], [[2, 1]]] as const)('an id with another user or minute is quarantined (%j)', async (order) => {
  account.setRecords(2, 0)
  const { oldRecords, records } = firstChannel(account.emulator)
  const old = first(oldRecords.rows)
  const other = first(oldRecords.rows.slice(1))
  records.add({ ...old, nick: 'of version 2', userId: 'another' })
  records.add({ ...other, nick: 'of version 2', enteredAt: other.enteredAt + 60 })
  for (const version of order) await read(version)
  const reasons = ['entered_at', 'user_id'].map((named) => `version 2 has this record_id with another ${named}`)
  const quarantined = reasons.map((reason) => ({ stream: 'watch_records_v1', reason: `conflict: ${reason}` }))
  for (const id of [old.recordId, other.recordId])
    expect(await readRecord(id)).toMatchObject({ row: { nickname: 'of version 2', api_version: 2 }, quarantined })
})
