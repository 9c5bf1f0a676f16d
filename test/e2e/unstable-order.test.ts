import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { accept } from '../../src/cli/accept.ts'
import { audit } from '../../src/cli/audit.ts'
import { backfill } from '../../src/cli/backfill.ts'
import type { ListQuery } from '../../src/emulator/params.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import { at, type Crowd, fill, syncAndExpectTruth } from '../helpers/crowd.ts'
import { changedRows, duplicateRow, meanwhile } from '../helpers/fault-effects.ts'
import { first, firstChannel, firstRows, times } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/add-odd-rows.ts'

const account = ofTest(() => startAccount({ channels: 1, viewers: 250 }))

async function syncLater(stream: string, hours: number) {
  account.clock.passHours(hours)
  const { code, errors, streams } = await account.sync(stream)
  return { code, errors, ...streams[stream] }
}

test.each<[number, Crowd]>([
  [1, { visitors: 150, watch_records: 250, signups: 60, gifts: 150 }],
  [20, { watch_records: 250, signups: 250, gifts: 250 }],
])('lists whose order of ties changes by page are read whole: within %i minutes %j', async (minutes, crowd) => {
  const { emulator, database } = account
  const { db } = database
  Object.assign(emulator.switches, { ties: 'by-page', visitorOrder: 'watch-time' })
  fill(emulator, crowd, minutes)
  for (const hours of [2, 24]) for (const stream of Object.keys(crowd)) await syncAndExpectTruth(account, stream, hours)
  expect(await account.run(audit, ['--json'])).toMatchObject({ code: 0 })
  await sql`delete from livehouse.gifts where gift_key = (select min(gift_key) from livehouse.gifts)`.execute(db)
  expect(await account.run(audit, ['--streams', 'gifts'])).toMatchObject({ code: 3 })
  await account.sync('gifts')
  emulator.faults.push({ effect: changedRows((item) => ({ ...Object(item), name: randomUUID() })) })
  expect(await account.run(audit, ['--streams', 'gifts'])).toMatchObject({ code: minutes === 1 ? 3 : 0 })
})

test('an audit counts the visitors gone from a list that never stands still, which marks none as removed', async () => {
  Object.assign(account.emulator.switches, { ties: 'by-page', visitorOrder: 'watch-time' })
  const { visitors } = firstChannel(account.emulator)
  fill(account.emulator, { visitors: 250 }, 1)
  await syncAndExpectTruth(account, 'visitors')
  for (const row of visitors.rows.filter(({ userId }) => /^crowd-1\d$/.test(userId))) visitors.remove(row)
  expect(await syncLater('visitors', 24)).toMatchObject({ code: 0, slices: { moving: 1 } })
  const printed = expect.arrayContaining([expect.stringContaining('the warehouse has 10 rows more than the source')])
  expect(await account.run(audit, ['--streams', 'visitors'])).toMatchObject({ code: 3, printed })
})

test('a list that never stands still and shrinks is red once, and not every night', async () => {
  Object.assign(account.emulator.switches, { ties: 'by-page', visitorOrder: 'watch-time' })
  const { visitors } = firstChannel(account.emulator)
  const crowd = times(400, (n) => ({ ...first(visitors.rows), watchSeconds: 0, userId: `crowd-${n}` }))
  const codes: number[] = []
  for (const count of [400, 359, 362, 358, 361]) {
    for (const row of visitors.rows.slice()) visitors.remove(row)
    visitors.add(...crowd.slice(0, count))
    codes.push((await syncLater('visitors', 24)).code)
  }
  expect(codes).toEqual([0, 3, 0, 0, 0])
})

test.each<[string, (query: ListQuery) => boolean, number, object]>([
  ['replaced between two readings', ({ pageSize }) => pageSize > 40 && pageSize < 50, 59, { userId: 'crowd-60' }],
  ['edited between two pages', ({ page }) => page === 2, 60, { nick: 'edited' }],
])('a signup that is %s does not take the place of another', async (_, isLater, users, change) => {
  const { channel, form, signup } = firstRows(account.emulator)
  const signups = createRowList([...times(60, (n) => ({ ...signup, signedUpAt: at, userId: `crowd-${n % users}` }))])
  channel.questionnaires.replace(form, { ...form, signups })
  account.emulator.switches.rowOrder = 'time-asc'
  const row = first(signups.rows.slice(5))
  const edit = (query: ListQuery) => {
    if (isLater(query) && signups.rows.includes(row)) {
      signups.remove(row)
      signups.add({ ...row, ...change })
    }
    return query
  }
  account.emulator.faults.push({ effect: { name: 'edits', query: edit }, endpoint: 'signupRecord' })
  await syncAndExpectTruth(account, 'signups')
})

test('signups of one list have the same headers, even if these are edited between two pages', async () => {
  const { channel, form, signup } = firstRows(account.emulator)
  const signups = createRowList([...times(60, (n) => ({ ...signup, signedUpAt: at, userId: `crowd-${n}` }))])
  channel.questionnaires.replace(form, { ...form, signups })
  const edited = { ...form, signups, questions: ['改名', ...form.questions.slice(1)] }
  const edit = meanwhile(() => channel.questionnaires.replace(first(channel.questionnaires.rows), edited))
  account.emulator.faults.push({ effect: edit, endpoint: 'signupRecord', page: 2, times: 1 })
  await syncAndExpectTruth(account, 'signups')
})

const pagesOfTwo = { name: 'pages of two', query: (query: ListQuery) => ({ ...query, pageSize: 2 }) }
test.each([
  ['equal signups', clampedTo(2), [{ signedUpAt: at - 30 }, {}, {}]],
  ['signups of one viewer and time, some of them equal,', pagesOfTwo, [{}, {}, { nick: 'other' }]],
])('%s on two pages are as many', async (_, effect, changes) => {
  const { channel, form, signup } = firstRows(account.emulator)
  const signups = createRowList(changes.map((change) => ({ ...signup, signedUpAt: at, ...change })))
  channel.questionnaires.replace(form, { ...form, signups })
  account.emulator.switches.rowOrder = 'time-asc'
  account.emulator.faults.push({ effect })
  await syncAndExpectTruth(account, 'signups')
})

test('a signup that comes on two pages in place of another is not green, even in each of two readings', async () => {
  const { channel, form, signup } = firstRows(account.emulator)
  const signups = createRowList(['a', 'b', 'c'].map((nick) => ({ ...signup, signedUpAt: at, nick })))
  channel.questionnaires.replace(form, { ...form, signups })
  const standIn = changedRows((item) => (Array.isArray(item) && item[1] === 'c' ? item.with(1, 'a') : item))
  account.emulator.faults.push({ effect: pagesOfTwo }, { effect: standIn, endpoint: 'signupRecord' })
  expect(await syncLater('signups', 1)).toMatchObject({ code: 3, errors: times(4, () => ({ code: 'slice.short' })) })
})

test('an unreadable row that comes on two pages does not count for the row that jumped ahead of it', async () => {
  const { visitors } = firstChannel(account.emulator)
  const newestFirst = visitors.rows.toSorted((a, b) => b.lastOnlineAt - a.lastOnlineAt)
  const jumping = first(newestFirst.slice(150))
  // The last rows of a page of 100 and of a page of 93.
  const unreadable = new Set([99, 92].map((place) => newestFirst[place]?.userId))
  const withoutId = (item: unknown) => (unreadable.has(Object(item).user_id) ? { ...Object(item), user_id: '' } : item)
  account.emulator.faults.push({ effect: changedRows(withoutId), endpoint: 'visitorList' })
  for (const page of [1, 2]) {
    const lastOnlineAt = page === 2 ? at + 20 * 86_400 : jumping.lastOnlineAt
    const isJumping = ({ userId }: typeof jumping) => userId === jumping.userId
    const jump = meanwhile(() => visitors.replace(first(visitors.rows.filter(isJumping)), { ...jumping, lastOnlineAt }))
    account.emulator.faults.push({ effect: jump, endpoint: 'visitorList', page, times: 2 })
  }
  expect(await syncLater('visitors', 1)).toMatchObject({ code: 0 })
  const held = await readStreamTable(account.database.db, 'visitors')
  expect(held.map((row) => row.user_id)).toContain(jumping.userId)
  expect(held).toHaveLength(visitors.rows.length - 2)
})

test('a visitor who comes twice in place of another does not count for that one: the list is short', async () => {
  const { id, visitors } = firstChannel(account.emulator)
  const newestFirst = visitors.rows.toSorted((a, b) => b.lastOnlineAt - a.lastOnlineAt)
  const [shown, hidden] = [10, 220].map((place) => newestFirst[place]?.userId)
  let twice: unknown
  const standIn = changedRows((item) => {
    if (Object(item).user_id === shown) twice = item
    return Object(item).user_id === hidden ? twice : item
  })
  account.emulator.faults.push({ effect: standIn, endpoint: 'visitorList' })
  account.emulator.faults.push({ effect: duplicateRow(), endpoint: 'visitorList', page: 2 })
  const errors = [{ message: expect.stringContaining('rows came, some of them twice, when it was read 10 times') }]
  expect(await syncLater('visitors', 1)).toMatchObject({ code: 3, slices: { short: 1 }, errors })
  const { printed } = await account.run(accept, ['--stream', 'visitors', '--channel', id, '--reason', 'a ghost'])
  expect(printed[0]).toContain(': 1 row may be missing')
})

test('a visit that leaves between two readings does not count for one that never comes', async () => {
  const { records } = firstChannel(account.emulator)
  fill(account.emulator, { watch_records: 60 }, 1)
  const leaving = records.rows.find(({ recordId }) => recordId === '900020')
  const query = (asked: ListQuery) => {
    if (asked.pageSize === 23 && leaving && records.rows.includes(leaving)) records.remove(leaving)
    return asked
  }
  const standIn = changedRows((item) =>
    Object(item).record_id === 900_010 ? { ...Object(item), record_id: 900_050 } : item,
  )
  const effects = [clampedTo(25), { ...standIn, query }]
  account.emulator.faults.push(...effects.map((effect) => ({ effect, endpoint: 'userRecordList' })))
  const range = ['--streams', 'watch_records', '--from', '2026-11-12', '--to', '2026-11-13']
  expect(await account.run(backfill, range)).toMatchObject({ code: 3 })
})

test('two equal unreadable items on two pages count as two, and every run proves the list', async () => {
  const { visitors } = firstChannel(account.emulator)
  const newestFirst = visitors.rows.toSorted((a, b) => b.lastOnlineAt - a.lastOnlineAt)
  const ids = new Set([20, 220].map((place) => newestFirst[place]?.userId))
  const unreadable = (item: unknown) => (ids.has(Object(item).user_id) ? { id: Object(item).id } : item)
  account.emulator.faults.push({ effect: changedRows(unreadable), endpoint: 'visitorList' })
  const proven = { code: 0, errors: [], slices: { verified: 1 }, quarantined: 2 }
  for (let night = 0; night < 2; night++) expect(await syncLater('visitors', 24)).toMatchObject(proven)
})

test('with a new watch record at every call, older ones are proven at once and read no more', async () => {
  const { records } = firstChannel(account.emulator)
  const model = first(records.rows)
  let added = 0
  const arrive = meanwhile(() => {
    const enteredAt = account.hoursAgo(0)
    records.add({ ...model, recordId: String(900_000 + ++added), enteredAt, leftAt: enteredAt })
  })
  const readRecords = async () => await syncLater('watch_records', 1)
  account.emulator.faults.push({ effect: arrive, endpoint: 'userRecordList' })
  expect(await readRecords()).toMatchObject({ code: 0, slices: { verified: 2, moving: 0 } })
  expect((await readRecords()).calls).toBeLessThan(20)
  account.emulator.faults.length = 0
  expect(await readRecords()).toMatchObject({ code: 0, slices: { verified: 1, moving: 0 } })
  await account.expectTruth(['watch_records'])
})

const ends = ['empty', 'repeat-first', 'repeat-last', 'error'] as const
test.each(ends)('gifts that differ in each answer take few calls; end: %s', async (beyondLastPage) => {
  Object.assign(account.emulator.switches, { beyondLastPage })
  let answers = 0
  const { gifts } = firstChannel(account.emulator)
  const givenAt = account.hoursAgo(1)
  const gift = { ...first(gifts.rows), type: 'cash' as const, giftId: 1, givenAt, showsVisitor: false }
  gifts.add(...times(120, (n) => ({ ...gift, giftId: n, givenAt: givenAt - Math.floor(n / 2) * 60 })))
  gifts.add(...times(130, () => ({ ...gift })))
  const emptied = (item: unknown) => ({ name: [null, ''][++answers % 2], ...Object(item), server_time: answers })
  const turned = meanwhile(() => {
    const row = first(gifts.rows.filter(({ type, giftId }) => type === 'cash' && giftId > 109 && giftId < 112))
    gifts.remove(row)
    gifts.add(row)
  })
  account.emulator.faults.push({ effect: { ...changedRows(emptied), ...turned }, endpoint: 'giftRunning' })
  await syncAndExpectTruth(account, 'gifts')
  expect(account.emulator.calls.length).toBeLessThan(60)
  expect(await syncLater('gifts', 2)).toMatchObject({ code: 0, inserted: 0, removed: 0, errors: [] })
  // Beyond the lookback the range has settled, and is read no more.
  await syncLater('gifts', 50)
  expect(await syncLater('gifts', 50)).toMatchObject({ code: 0, extracted: 0, errors: [] })
})
