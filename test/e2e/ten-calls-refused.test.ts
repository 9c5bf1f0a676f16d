import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { errorsObject, jsonBody, refusal, status } from '../helpers/fault-effects.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { startV1Account, V1_BACKFILL, type V1Account } from '../helpers/v1-account.ts'

let account: V1Account
beforeEach(async () => {
  account = await startV1Account()
})
afterEach(async () => await account[Symbol.asyncDispose]())

async function run() {
  const { code, printed, error } = await account.run(backfill, [...V1_BACKFILL, '--json'])
  expect(error).toBeUndefined()
  return { code, json: JSON.parse(printed.join('')) }
}

test.each<[string, FaultEffect]>([
  ['HTTP 400', status(400)],
  ['404002', refusal(404_002)],
  ['errors.code 400009 at HTTP 200', errorsObject(400_009, 'once more tomorrow')],
  ['status "n"', jsonBody({ status: 'n', msg: 'no', flag: 100 })],
])('%s is never the end of the list: the day is spent, and the next one goes on', async (_what, effect) => {
  account.setRecords(950)
  account.emulator.faults.push({ effect, endpoint: 'userRecords', page: 3, times: 1 })
  const first = await run()
  expect(first).toMatchObject({
    code: 4,
    json: { status: 'waiting', errors: [], resumes_at: '2026-11-20T16:05:00.000Z' },
  })
  expect(first.json.streams.watch_records_v1).toMatchObject({ inserted: 200, calls: 3, retries: 0 })
  expect((await run()).json.streams.watch_records_v1.calls).toBe(0)
  account.nextDay()
  expect((await run()).code).toBe(4)
  account.nextDay()
  expect(await run()).toMatchObject({ code: 0, json: { status: 'ok' } })
  expect(account.callsByDay()).toEqual([3, 10, 1])
  await expectTruth(account, ['watch_records_v1'])
})

test('a channel that is refused every day keeps no other from its calls', async () => {
  account.setRecords(450, 1250)
  const [refused = '', other = ''] = account.emulator.channelIds
  account.emulator.faults.push({ effect: status(404), endpoint: 'userRecords', channelId: refused })
  const ends = []
  for (let day = 1; day <= 5; day++) {
    ends.push(await run())
    account.nextDay()
  }
  // It waits for calls that the service gives, and each day it is asked for one.
  expect(ends.map(({ code }) => code)).toEqual([4, 4, 4, 4, 4])
  const pages = account.callsOn46().filter(({ channelId }) => channelId === other)
  expect(pages.at(-1)?.page).toBe(14)

  account.emulator.faults.splice(0)
  expect(await run()).toMatchObject({ code: 0 })
  await expectTruth(account, ['watch_records_v1'])
})

test('a list of which the service refuses far pages is read in parts, and keeps no other from its calls', async () => {
  account.setRecords(250, 450)
  const [deep = ''] = account.emulator.channelIds
  account.emulator.faults.push({ effect: status(400), endpoint: 'userRecords', channelId: deep, page: 4 })
  let code: number | undefined = 4
  for (let day = 1; code === 4; day++) {
    expect(day).toBeLessThan(30)
    ;({ code } = await run())
    account.nextDay()
  }
  expect(code).toBe(0)
  await expectTruth(account, ['watch_records_v1'])
})

test('no login of the database can keep calls from being taken by locks that anybody may have', async () => {
  account.setRecords(10)
  const stranger = await openDatabase(account.database.url)
  try {
    await stranger.connection().execute(async (session) => {
      await sql`select pg_advisory_lock(hashtextextended('livehouse/call-budget', 0))`.execute(session)
      expect((await run()).code).toBe(0)
      await sql`select pg_advisory_unlock_all()`.execute(session)
    })
  } finally {
    await stranger.destroy()
  }
  expect(account.callsByDay()).toEqual([3])
})
