import { expect, test } from 'vitest'
import { MINUTE } from '../../src/core/wall-clock.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import type { ListQuery } from '../../src/emulator/params.ts'
import { ROWS, startLists, syncStreams } from '../helpers/capped-lists.ts'
import { falseTotal, meanwhile, noRows, refusal, repeatedPage, withheldRows } from '../helpers/fault-effects.ts'
import { addRows, firstChannel, times } from '../helpers/first-rows.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/add-odd-rows.ts'

async function syncVisitors(account: TestAccount): Promise<void> {
  expect(await syncStreams(account, 'visitors')).toMatchObject({ code: 0, errors: [] })
  await account.expectTruth(['visitors'])
}

test('past an exceeded total, a refused page is the end unless the page before it is full', async () => {
  await using account = await startLists(20, 2, ROWS - 5)
  account.emulator.switches.beyondLastPage = 'error'
  await syncVisitors(account)
  // In its second reading the total is right.
  const correct = meanwhile(() => void (account.emulator.switches.largestTotal = ROWS))
  account.emulator.faults.push({ effect: correct, endpoint: 'visitorList', page: 14, times: 1 })
  await syncVisitors(account)
  account.emulator.switches.largestTotal = 20
  account.emulator.faults.push({ effect: refusal(404001), endpoint: 'visitorList', page: 8 })
  expect(await syncStreams(account, 'visitors')).toMatchObject({ code: 3, errors: [{ stream: 'visitors' }] })
})

test('where pages are refused, a reading with just the rows of an untrue total proves nothing', async () => {
  await using account = await startLists(14, 2, ROWS, 9)
  account.emulator.faults.push({ effect: refusal(400009), endpoint: 'visitorList', page: 3 })
  // 14 rows are two full pages of the third reading: nothing else shows that there are more.
  expect(await syncStreams(account, 'visitors')).toMatchObject({ code: 3, errors: [{ stream: 'visitors' }] })
  account.emulator.faults.pop()
  await syncVisitors(account)
})

test('a repeated page is not the end of a list that has exceeded its total', async () => {
  await using account = await startLists(10, 2)
  account.emulator.faults.push({ effect: repeatedPage(), endpoint: 'visitorList', page: 8, times: 3 })
  await syncVisitors(account)
})

// Forty rows fill the last page of 5, of 4 and of 2 rows. With one row the total is 0, which proves no visit.
test.each([1, 2, 40])('a refused page ends a list of %i rows with a smaller total', async (rows) => {
  await using account = await startAccount({ channels: 1, viewers: rows })
  Object.assign(account.emulator.switches, { beyondLastPage: 'error', largestTotal: Math.min(rows - 1, 6) })
  account.emulator.faults.push({ effect: clampedTo(5), endpoint: 'visitorList' })
  const streams = rows === 1 ? ['visitors'] : ['visitors', 'watch_records']
  expect(await syncStreams(account, streams.join())).toMatchObject({ code: 0, errors: [] })
  await account.expectTruth(streams)
})

test.each([15, 16, 17])('of 20 visitors with a total of %i, none is lost in any order', async (cap) => {
  await using account = await startLists(cap, 20, 15, 14)
  account.emulator.switches.ties = 'by-page'
  const { streams } = await syncStreams(account, 'visitors')
  expect(streams.visitors).toMatchObject({ quarantined: 0, slices: { verified: 0, moving: 1 } })
  await account.expectTruth(['visitors'])
})

test('a total that one reading has exceeded does not prove another that ends with it', async () => {
  await using account = await startLists(10, 2)
  let readings = 0
  const endsSecond = { ...withheldRows(() => readings === 2), ...meanwhile(() => void readings++) }
  account.emulator.faults.push({ effect: endsSecond, endpoint: 'visitorList', page: 2 })
  expect((await syncStreams(account, 'visitors')).streams.visitors.slices).toMatchObject({ verified: 0, moving: 1 })
})

test.each([refusal(400009), noRows(), repeatedPage()])('$name past a full page is not the end', async (effect) => {
  await using account = await startLists(100, 2, 195, 50)
  account.emulator.faults.push({ effect, endpoint: 'visitorList', page: 3, times: 1 })
  account.emulator.switches.beyondLastPage = 'error'
  await syncVisitors(account)
})

test.each([100, 20])('rows shown twice and counted once are proven; %i rows a page', async (size) => {
  await using account = await startLists(50, 2, 45, size)
  const { visitors } = firstChannel(account.emulator)
  for (const row of visitors.rows.slice(3, 6)) visitors.add({ ...row })
  const { streams } = await syncStreams(account, 'visitors')
  expect(streams.visitors).toMatchObject({ inserted: 50, quarantined: 0, slices: { verified: 1, moving: 0 } })
})

test.each([
  // A minute is requested together with its neighbours. Visits have ids, so that those of an unproven minute land too.
  ['watch_records', { code: 0, moving: 4, short: 0 }],
  ['signups', { code: 3, moving: 0, short: 4 }],
])('if one of the %s is never counted, only the minutes that show it are not proven', async (stream, expected) => {
  await using account = await startLists(1000, 2, 300, 100)
  const at = account.hoursAgo(0) - 100 * MINUTE
  let isAsked = false
  const query = (asked: ListQuery) => {
    isAsked = (asked.from ?? 0) <= at && (asked.to ?? Infinity) >= at
    return asked
  }
  const { answer = (given) => given } = falseTotal(-1)
  const uncounted: FaultEffect = { name: 'uncounted', query, answer: (given) => (isAsked ? answer(given) : given) }
  account.emulator.faults.push({ effect: uncounted })
  const { code, streams, errors } = await syncStreams(account, `questionnaires,${stream}`)
  const { moving, short } = streams[stream].slices
  expect({ code, moving, short }).toEqual(expected)
  expect(errors).toMatchObject(times(short, () => ({ code: 'slice.short' })))
  expect(account.emulator.calls.length).toBeLessThan(250)
  account.emulator.faults.splice(0)
  expect(await syncStreams(account, `questionnaires,${stream}`)).toMatchObject({ code: 0, errors: [] })
  await account.expectTruth([stream])
})

test('visits whose totals are all one too small land in few calls, and the run is not green', async () => {
  await using account = await startLists(1000, 1, 400, 100)
  account.emulator.faults.push({ effect: falseTotal(-1), endpoint: 'userRecordList' })
  for (let night = 0; night < 2; night++) {
    account.emulator.calls.length = 0
    expect(await syncStreams(account, 'watch_records')).toMatchObject({ code: 3 })
    expect(account.emulator.calls.length).toBeLessThan(1500)
    await account.expectTruth(['watch_records'])
  }
})

test('five visits in five days that are never counted make no run red', async () => {
  await using account = await startAccount({ channels: 1, viewers: 5 })
  const now = account.hoursAgo(0)
  addRows(account.emulator, 600, (n) => now - 3600 - n * 14 * MINUTE)
  const uncounted = [100, 200, 300, 400, 500].map((n) => now - 3600 - n * 14 * MINUTE)
  let missing = 0
  const query = (asked: ListQuery) => {
    missing = uncounted.filter((at) => (asked.from ?? 0) <= at && (asked.to ?? Infinity) >= at).length
    return asked
  }
  const answer: FaultEffect['answer'] = (given) => falseTotal(-missing).answer?.(given) ?? given
  account.emulator.faults.push({ effect: { name: 'uncounted', query, answer }, endpoint: 'userRecordList' })
  for (let night = 0; night < 2; night++) {
    account.emulator.calls.length = 0
    expect(await syncStreams(account, 'watch_records')).toMatchObject({ code: 0 })
    expect(account.emulator.calls.length).toBeLessThan(900)
  }
  await account.expectTruth(['watch_records'])
})

test('signups with an untrue total, which moves in their parts, are cut only so often', async () => {
  await using account = await startAccount({ channels: 1, viewers: 5 })
  const newest = account.hoursAgo(48)
  const signups = times(40, (n) => newest - n * 7 * MINUTE)
  addRows(account.emulator, signups.length, (n) => signups[n] ?? newest)
  let held = 0
  let more = 0
  const query = (asked: ListQuery): ListQuery => {
    held = signups.filter((at) => (asked.from ?? 0) <= at && (asked.to ?? Infinity) >= at).length
    more = held === signups.length ? -1 : asked.page % 2
    return held === 0 || held === signups.length ? asked : { ...asked, pageSize: 1, echoPageSize: 1 }
  }
  const answer: FaultEffect['answer'] = (given) => (held === 0 ? given : (falseTotal(more).answer?.(given) ?? given))
  account.emulator.faults.push({ effect: { name: 'untrue, then moving', query, answer }, endpoint: 'signupRecord' })
  expect((await syncStreams(account, 'questionnaires,signups')).code).toBe(3)
  // Some 800, not 5,100.
  expect(account.emulator.calls.length).toBeLessThan(1000)
})
