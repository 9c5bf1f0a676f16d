import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { DAY } from '../../src/core/wall-clock.ts'
import { duplicateRow, falseTotal } from '../helpers/fault-effects.ts'
import { firstRows } from '../helpers/first-rows.ts'
import { startAccount } from '../helpers/start-account.ts'

const RECORDS = 26_000
const GIFTS = 12_000

test('a long history takes few calls more than it has pages, and is read in parts that can be resumed', async () => {
  await using account = await startAccount({ viewers: 5 })
  const { emulator, database } = account
  const { channel, record, gift } = firstRows(emulator)
  for (const { records, gifts } of emulator.world.channels.values()) {
    for (const row of records.rows.slice()) records.remove(row)
    for (const row of gifts.rows.slice()) gifts.remove(row)
  }
  const now = account.hoursAgo(0)
  for (let place = 0; place < RECORDS; place++) {
    const enteredAt = now - 3600 - place * 4000
    channel.records.add({ ...record, recordId: `${place + 1}`, enteredAt, leftAt: enteredAt + 30 })
  }
  // In evenings of 3,000, two of them within a minute.
  for (let place = 0; place < GIFTS; place++) {
    const evening = Math.floor(place / 3000)
    const within = Math.floor((place % 3000) * (evening < 2 ? 0.01 : 3))
    channel.gifts.add({ ...gift, giftId: place, givenAt: now - 3600 - evening * 90 * DAY - within })
  }
  const run = async (stream: string) => {
    const before = emulator.calls.length
    expect(await account.sync(stream)).toMatchObject({ code: 0 })
    const { rows } = await sql<{ most: string }>`
      select max(distinct_rows) as most from livehouse_ops.slices where stream = ${stream}`.execute(database.db)
    const calls = emulator.calls.slice(before).filter(({ channelId }) => channelId === channel.id).length
    return { calls, most: Number(rows[0]?.most) }
  }

  const ofRecords = await run('watch_records')
  expect(ofRecords.calls).toBeLessThan((RECORDS / 100) * 1.1)
  expect(ofRecords.most).toBeLessThanOrEqual(15_000)
  const ofGifts = await run('gifts')
  // One of them asks for a row by its time, before the list is cut.
  expect(ofGifts.calls).toBeLessThan((GIFTS / 100) * 1.3 + 1)
  expect(ofGifts.most).toBeLessThanOrEqual(7500)
  await account.expectTruth(['watch_records', 'gifts'])
})

test('a list without a total is cut into parts that need not be cut again', async () => {
  await using account = await startAccount({ viewers: 5 })
  const { emulator } = account
  const { channel, gift } = firstRows(emulator)
  for (const row of channel.gifts.rows.slice()) channel.gifts.remove(row)
  const now = account.hoursAgo(0)
  for (let place = 0; place < 15_500; place++)
    channel.gifts.add({ ...gift, giftId: place, givenAt: now - 3600 - place * 27 })
  expect(await account.sync('gifts')).toMatchObject({ code: 0 })
  const calls = emulator.calls.filter(({ channelId }) => channelId === channel.id)
  // Parts end at midnight, and are not all as long as they may be.
  expect(calls.length).toBeLessThan(155 * 1.25)
  await account.expectTruth(['gifts'])
})

test.each([
  // Twenty to eighty calls a row where each part is cut to its minutes.
  ['whose total is always one too small', 'watch_records', falseTotal(-1), 1200],
  ['whose total is always one too small', 'signups', falseTotal(-1), 1000],
  ['that repeats a row of each page', 'signups', duplicateRow(), 1000],
])('a list %s is not searched minute by minute (%s)', async (_which, stream, effect, most) => {
  await using account = await startAccount({ channels: 1, viewers: 100 })
  for (const endpoint of ['userRecordList', 'signupRecord'] as const) account.emulator.faults.push({ effect, endpoint })
  const lists = ['--streams', stream]
  const { code } = await account.sync(lists)
  expect(code).toBe(3)
  expect(account.emulator.calls.length).toBeLessThan(most)
  account.emulator.faults.length = 0
  expect(await account.sync(lists)).toMatchObject({ code: 0 })
  await account.expectTruth([stream])
})
