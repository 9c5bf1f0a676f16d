import { expect, test } from 'vitest'
import { MINUTE, type WallTime } from '../../src/core/wall-clock.ts'
import type { Answer } from '../../src/emulator/answer.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import type { ListQuery } from '../../src/emulator/params.ts'
import { fill, syncAndExpectTruth } from '../helpers/crowd.ts'
import { changedRows, meanwhile, noRows } from '../helpers/fault-effects.ts'
import { first, firstChannel, firstRows } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/add-odd-rows.ts'

const account = ofTest(() => startAccount({ channels: 1, viewers: 250 }))

const readVisits = async () => await account.sync('watch_records')

test('an empty answer for a part is not believed if its rows came before the range was cut', async () => {
  let [whole, held]: unknown[] = []
  let isRead = false
  /** Read in one piece, the list shows a row of each page twice and lacks another. */
  const twice = changedRows((item, index) => {
    if (index === 0) held = item
    return index === 1 ? held : item
  })
  let serving: Partial<FaultEffect> = {}
  const query = (asked: ListQuery) => {
    whole ??= asked.to
    isRead ||= asked.to === whole && asked.page === 2
    serving = asked.to === whole ? twice : isRead ? noRows() : {}
    return asked
  }
  const effect: FaultEffect = { name: 'then empty', query, answer: (given) => serving.answer?.(given) ?? given }
  account.emulator.faults.push({ effect, endpoint: 'userRecordList' })
  const message = expect.stringContaining('only 0 rows came where there were')
  expect(await readVisits()).toMatchObject({ code: 3, errors: [{ code: 'slice.short', message }] })
})

test.each([
  ['watch_records', 'userRecordList'],
  ['signups', 'signupRecord'],
] as const)('parts of %s are compared with the total announced when they were cut', async (stream, endpoint) => {
  fill(account.emulator, { [stream]: 1200 }, 400)
  let [whole, isHiding]: [number?, boolean?] = []
  const query = (asked: ListQuery) => {
    whole ??= asked.to
    // Hides neither counts of parts (pages of 10) nor checks that rows are found by their time (a minute).
    isHiding = asked.to !== whole && asked.pageSize !== 10 && (asked.to ?? 0) - (asked.from ?? 0) > 3 * MINUTE
    return asked
  }
  const answer = (given: Answer) => (isHiding ? (noRows().answer?.(given) ?? given) : given)
  const effects = [{ name: 'hides', query, answer }, clampedTo(2)]
  account.emulator.faults.push(...effects.map((effect) => ({ effect, endpoint })))
  const { errors } = await account.sync(stream === 'signups' ? 'questionnaires,signups' : stream)
  expect(JSON.stringify(errors)).toContain('only 0 rows came where there were')
  account.emulator.faults.splice(0, 1)
  await syncAndExpectTruth(account, stream)
})

test('parts that are cut again are compared with the total announced at the first cut', async () => {
  const { records } = firstChannel(account.emulator)
  fill(account.emulator, { watch_records: 4000 }, 400)
  const gone = records.rows.filter((_, index) => index % 2 === 0)
  let [counted, isGone] = [0, false]
  const query = (asked: ListQuery) => {
    if (asked.pageSize === 10) counted++
    else if (counted >= 2 && !isGone) {
      isGone = true
      for (const row of gone) records.remove(row)
    }
    return asked
  }
  const effects = [{ name: 'loses half', query }, clampedTo(2)]
  account.emulator.faults.push(...effects.map((effect) => ({ effect, endpoint: 'userRecordList' })))
  expect(await readVisits()).toMatchObject({ code: 3, streams: { watch_records: { slices: { verified: 0 } } } })
  records.add(...gone)
  await syncAndExpectTruth(account, 'watch_records')
})

test('half of a list that vanishes while rows arrive does not count as gone', async () => {
  const { records } = firstChannel(account.emulator)
  const model = first(records.rows)
  const gone = records.rows.filter((_, index) => index % 2 === 0)
  let calls = 0
  const arrive = meanwhile(() => {
    const enteredAt = account.hoursAgo(0)
    records.add({ ...model, recordId: String(900_000 + ++calls), enteredAt, leftAt: enteredAt })
    if (calls === 2) for (const row of gone) records.remove(row)
  })
  account.emulator.faults.push({ effect: arrive, endpoint: 'userRecordList' })
  expect(await readVisits()).toMatchObject({ code: 3, errors: [{ code: 'slice.short' }] })
  account.emulator.faults.length = 0
  records.add(...gone)
  await syncAndExpectTruth(account, 'watch_records')
})

test('two empty answers within an hour settle no history', async () => {
  for (const endpoint of ['signupRecord', 'userRecordList'])
    account.emulator.faults.push({ effect: noRows(), endpoint })
  for (let reading = 0; reading < 2; reading++) expect(await account.sync()).toMatchObject({ code: 0 })
  account.emulator.faults.length = 0
  for (const stream of ['watch_records', 'signups']) await syncAndExpectTruth(account, stream, 0.1)
})

test('with a late signup in each reading, all land, and those past the last page too', async () => {
  const { form, signup } = firstRows(account.emulator)
  const now = account.hoursAgo(0)
  for (const row of form.signups.rows.slice()) form.signups.remove(row)
  let viewers = 0
  const signUp = (signedUpAt: WallTime) => form.signups.add({ ...signup, userId: `u${viewers++}`, signedUpAt })
  for (let place = 0; place < 260; place++) signUp(now - 3600 - place * 90)
  const effect = meanwhile(() => signUp(now - 9000))
  account.emulator.faults.push({ effect, endpoint: 'signupRecord', page: 2 })
  const run = async () => await account.sync('signups')
  expect(await run()).toMatchObject({ code: 0, streams: { signups: { slices: { moving: 0, short: 0 } } } })
  expect((await readStreamTable(account.database.db, 'signups')).length).toBeGreaterThanOrEqual(260)
  account.emulator.faults.length = 0
  expect(await run()).toMatchObject({ code: 0 })
  await account.expectTruth(['signups'])
})
