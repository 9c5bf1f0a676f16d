import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import type { Fault, FaultEffect } from '../../src/emulator/faults.ts'
import { errorsObject, jsonBody, refusal, status, whereAsked } from '../helpers/fault-effects.ts'
import { first, firstChannel } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'
import { startV1Account, V1_BACKFILL } from '../helpers/v1-account.ts'

const account = ofTest(startV1Account)
const runBackfill = async (settings = {}, argv: readonly string[] = V1_BACKFILL) =>
  await account.runJson(backfill, argv, settings)
const runSync = async (settings: Readonly<Record<string, string>>) => await account.sync('watch_records_v1', settings)
const refuse = (effect: FaultEffect, fault: Partial<Fault> = {}) =>
  account.emulator.faults.push({ effect, endpoint: 'userRecords', ...fault })

test.each<[string, FaultEffect]>([
  ['HTTP 400', status(400)],
  ['errors.code 400009 at HTTP 200', errorsObject(400_009, 'once more tomorrow')],
  ['status "n"', jsonBody({ status: 'n', msg: 'no', flag: 100 })],
])('%s never ends the list: it spends the day, and the next day goes on', async (_what, effect) => {
  account.setRecords(950)
  refuse(effect, { page: 3, times: 1 })
  const refused = await runBackfill()
  expect(refused).toMatchObject({ code: 4, status: 'waiting', errors: [], resumes_at: '2026-11-20T16:05:00.000Z' })
  expect(refused.streams.watch_records_v1).toMatchObject({ inserted: 200, calls: 3, retries: 0 })
  expect((await runBackfill()).streams.watch_records_v1.calls).toBe(0)
  account.nextDay()
  expect((await runBackfill()).code).toBe(4)
  account.nextDay()
  expect(await runBackfill()).toMatchObject({ code: 0, status: 'ok' })
  expect(account.callsByDay()).toEqual([3, 10, 3])
  await account.expectTruth(['watch_records_v1'])
})

test('a channel that the service does not know fails at once, and costs only its own call', async () => {
  account.setRecords(450, 450)
  const [unknown = '', other = ''] = account.emulator.channelIds
  refuse(refusal(404_002), { channelId: unknown })
  const { code, errors } = await runBackfill()
  expect(code).toBe(3)
  expect(errors).toMatchObject([{ partition: `channel=${unknown}`, code: 'api.channelUnknown' }])
  expect(account.pagesOf(unknown)).toEqual([1])
  expect(account.pagesOf(other).at(-1)).toBe(6)
})

test('a channel refused every day takes no calls from others, and fails with a message after three days', async () => {
  account.setRecords(450, 1250)
  const [refused = '', other = ''] = account.emulator.channelIds
  refuse(status(404), { channelId: refused })
  const runs = await account.eachDay(6, async () => await runBackfill())
  // Requested on the first day, and on the third and later ones, when the other channel has been read.
  expect(runs.map(({ code }) => code)).toEqual([4, 4, 4, 3, 3, 3])
  const message = expect.stringMatching(/404.*refused since 2026-11-/)
  expect(runs[3].errors).toMatchObject([{ partition: `channel=${refused}`, code: 'api.status', message }])
  expect(account.pagesOf(other).at(-1)).toBe(14)

  account.emulator.faults.splice(0)
  expect(await runBackfill()).toMatchObject({ code: 0 })
  await account.expectTruth(['watch_records_v1'])
})

test('a refused channel takes no calls from others even if its missing range is newer', async () => {
  account.setRecords(450, 1250)
  const [refused = '', other = ''] = account.emulator.channelIds
  refuse(status(404), { channelId: refused })
  const path = join(createTemporaryFolder('csv'), 'channels.csv')
  writeFileSync(path, `channel_id,until\n${refused},\n${other},2018-12-01\n`)
  await account.eachDay(4, async () => await runSync({ LIVEHOUSE_CHANNELS: `@${path}` }))
  expect(account.pagesOf(other).at(-1)).toBe(14)
})

test('calls that another client spends cost no page that was read, and are reported after three days', async () => {
  account.setRecords(650, 0)
  const settings = { LIVEHOUSE_V1_BUDGET: '3', LIVEHOUSE_CHANNELS: account.emulator.channelIds[0] ?? '' }
  const runs = await account.eachDay(6, async (day) => {
    if (day === 2) refuse(status(429))
    return await runBackfill(settings)
  })
  expect(runs.map(({ code }) => code)).toEqual([4, 4, 4, 4, 3, 3])
  const message = expect.stringMatching(/429.*another client of the account must be spending/)
  expect(runs[5].errors).toMatchObject([{ message }])

  account.emulator.faults.splice(0)
  const before = account.pagesOf().length
  expect((await runBackfill(settings)).code).toBe(4)
  // The second call reads page 4 with 99 rows a page, in case the list ended there.
  expect(account.pagesOf().slice(before)).toEqual([3, 4, 4])
  account.nextDay()
  expect((await runBackfill({ ...settings, LIVEHOUSE_V1_BUDGET: '10' })).code).toBe(0)
  await account.expectTruth(['watch_records_v1'])
})

test('a backfill does not wait for a slice of a sync of which no page has landed', async () => {
  account.setRecords(150, 0)
  refuse(status(400), { times: 1 })
  await runSync({})
  account.nextDay()
  expect(await runBackfill()).toMatchObject({ code: 0, streams: { watch_records_v1: { inserted: 150, calls: 4 } } })
})

test('a pause of days is no refusal: one refusal after it costs no page that was read', async () => {
  account.setRecords(1250)
  await runBackfill()
  account.clock.passHours(4 * 24)
  refuse(status(429), { times: 1 })
  expect((await runBackfill()).code).toBe(4)
  account.nextDay()
  expect((await runBackfill()).code).toBe(0)
  expect(account.pagesOf().slice(9)).toEqual([10, 10, 10, 11, 11, 12, 13, 14])
  await account.expectTruth(['watch_records_v1'])
})

test('the half of a list that lies too deep is read before newer ranges of its channel', async () => {
  account.setRecords(450, 0)
  const [deep = ''] = account.emulator.channelIds
  refuse(status(400), { page: 4 })
  const settings = { LIVEHOUSE_CHANNELS: deep, LIVEHOUSE_V1_BUDGET: '3' }
  await account.eachDay(5, async () => await runSync(settings))
  // Enough to take all calls of a day.
  const { oldRecords } = firstChannel(account.emulator)
  const enteredAt = account.hoursAgo(24)
  const young = { ...first(oldRecords.rows), enteredAt, leftAt: enteredAt + 60 }
  oldRecords.add(...Array.from({ length: 250 }, (_, index) => ({ ...young, recordId: `77${index}` })))
  const before = account.callsOn46().length
  await runSync(settings)
  const { params } = first(account.callsOn46().slice(before))
  expect(String(params['end_time'])).toMatch(/^2026-11-1/)
  expect(String(params['start_time'])).toMatch(/^202[01]/)
})

test("a minute that lies too deep is not restarted without end: it fails with the service's error", async () => {
  account.setRecords(150)
  const { oldRecords } = firstChannel(account.emulator)
  const enteredAt = parseWallTime('2018-09-01 23:59:00') ?? 0
  for (const row of oldRecords.rows) oldRecords.replace(row, { ...row, enteredAt, leftAt: enteredAt + 30 })
  refuse(status(400), { page: 2 })
  const oneDay = ['--from', '2018-09-01', '--to', '2018-09-02', '--streams', 'watch_records_v1']
  const run = async () => {
    account.clock.passHours(2 * 24)
    return await runBackfill({}, oneDay)
  }
  expect(await account.untilDone(run, 40)).toMatchObject({ code: 3, errors: [{ code: 'api.status' }] })
})

test.each([400, 500])('a list past which the service answers %i takes no calls from others', async (code) => {
  account.setRecords(250, 450)
  const pastTheEnd = whereAsked(({ page, pageSize }) => (page - 1) * pageSize >= 250, status(code))
  refuse(pastTheEnd, { channelId: first(account.emulator.channelIds) })
  expect(await account.eachDay(2, async () => (await runBackfill()).code)).toEqual([code === 400 ? 4 : 3, 0])
  await account.expectTruth(['watch_records_v1'])
})
