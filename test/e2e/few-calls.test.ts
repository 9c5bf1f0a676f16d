import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { DAY, parseWallTime } from '../../src/core/wall-clock.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import type { Signup } from '../../src/emulator/world/world.ts'
import { duplicateRow } from '../helpers/fault-effects.ts'
import { firstRows, times } from '../helpers/first-rows.ts'
import { startAccount } from '../helpers/start-account.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'

const RECORDS = 26_000
const GIFTS = 9000
/** Gifts of another channel. */
const MORE_GIFTS = 8000

test('a long history takes few more calls than it has pages, in parts small enough to resume', async () => {
  await using account = await startAccount({ viewers: 5 })
  const { emulator, database } = account
  const { channel, record, gift } = firstRows(emulator)
  for (const { records, gifts } of emulator.world.channels.values()) {
    for (const row of records.rows.slice()) records.remove(row)
    for (const row of gifts.rows.slice()) gifts.remove(row)
  }
  const latest = account.hoursAgo(1)
  for (let place = 0; place < RECORDS; place++) {
    const enteredAt = latest - place * 4000
    channel.records.add({ ...record, recordId: `${place + 1}`, enteredAt, leftAt: enteredAt + 30 })
  }
  // In evenings of 3,000 gifts, two of the evenings within a minute.
  for (let place = 0; place < GIFTS; place++) {
    const evening = Math.floor(place / 3000)
    const within = Math.floor((place % 3000) * (evening < 2 ? 0.01 : 3))
    channel.gifts.add({ ...gift, giftId: place, givenAt: latest - evening * 90 * DAY - within })
  }
  const [, other] = emulator.world.channels.values()
  for (let place = 0; place < MORE_GIFTS; place++)
    other?.gifts.add({ ...gift, giftId: place, givenAt: latest - place * 27 })
  const run = async (stream: string) => {
    const before = emulator.calls.length
    expect(await account.sync(stream)).toMatchObject({ code: 0 })
    const { rows } = await sql<{ most: string }>`
      select max(distinct_rows) as most from livehouse_ops.slices where stream = ${stream}`.execute(database.db)
    const calls = emulator.calls.slice(before)
    const callsOf = (id = '') => calls.filter(({ channelId }) => channelId === id).length
    return { calls: callsOf(channel.id), otherCalls: callsOf(other?.id), largestSlice: Number(rows[0]?.most) }
  }

  const recordReading = await run('watch_records')
  expect(recordReading.calls).toBeLessThan((RECORDS / 100) * 1.1)
  expect(recordReading.largestSlice).toBeLessThanOrEqual(15_000)
  const giftReading = await run('gifts')
  // One call asks for a row by its time before the cut; two ask for the newest days of the other type, which is empty.
  expect(giftReading.calls).toBeLessThan((GIFTS / 100) * 1.32 + 3)
  // The parts need no second cut, but they end at midnight, so that some are shorter than they may be.
  expect(giftReading.otherCalls).toBeLessThan((MORE_GIFTS / 100) * 1.27 + 2)
  expect(giftReading.largestSlice).toBeLessThanOrEqual(7500)
  await account.expectTruth(['watch_records', 'gifts'])
})

// Cutting each part down to its minutes would take twenty to eighty calls a row.
test('a list of signups that repeats a row on each page is not cut down to its minutes', async () => {
  await using account = await startAccount({ channels: 1, viewers: 100 })
  account.emulator.faults.push({ effect: duplicateRow(), endpoint: 'signupRecord' })
  expect(await account.sync('signups')).toMatchObject({ code: 3 })
  expect(account.emulator.calls.length).toBeLessThan(1000)
  account.emulator.faults.length = 0
  expect(await account.sync('signups')).toMatchObject({ code: 0 })
  await account.expectTruth(['signups'])
})

test('signups with large answers are read in parts that fit into memory, and all land', async () => {
  await using pipeline = await startPipeline({ channels: 1, viewers: 10, days: 30 })
  const { channel, form, signup } = firstRows(pipeline.emulator)
  const endsAt = parseWallTime('2026-11-20 14:30:00') ?? 0
  const questions = times(20, (index) => `${'问'.repeat(200)}${index}`)
  // Within 30 hours, and with too few pages to be cut for their number.
  const signups = times(120, (index) => {
    const answers = questions.map((_question, no) => `${'答'.repeat(2500)}${index}.${no}`)
    return { ...signup, userId: `u${index}`, answers, signedUpAt: endsAt - 86_400 - index * 900 }
  })
  channel.questionnaires.replace(form, { ...form, questions, signups: createRowList<Signup>([...signups]) })
  expect(await pipeline.sync({ streams: ['questionnaires', 'signups'] })).toMatchObject({ status: 'ok' })
  const { db } = pipeline.database
  const partition = `channel=${channel.id}/question=${form.questionId}`
  const slices = db.selectFrom('livehouse_ops.slices').select('distinct_rows').where('partition', '=', partition)
  const landed = (await slices.where('status', '=', 'landed').execute()).map((slice) => Number(slice.distinct_rows))
  expect(landed.length).toBeGreaterThan(1)
  expect(Math.max(...landed)).toBeLessThan(120)
  const { rows: answers } = await sql<{ count: number; last: string }>`
    select count(distinct (signup_key, question_no))::integer as count, max(right(answer, 6)) filter (where answer like '%119.19') as last
    from livehouse.signup_answers where question_id = ${form.questionId}`.execute(db)
  expect(answers).toEqual([{ count: 2400, last: '119.19' }])
})
