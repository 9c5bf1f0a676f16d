import type { Kysely } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/store/database.ts'
import { readGoneChannels, recordChannelAnswers } from '../../src/ledger/channel-states.ts'
import { startRun } from '../../src/ledger/runs.ts'
import { registerChannels } from '../../src/store/channels.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

let database: TestDatabase
let db: Kysely<Database>

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
})

beforeEach(async () => {
  await db.deleteFrom('livehouse_ops.channel_states').execute()
  await db.deleteFrom('livehouse.channels').execute()
  await configure('8', '9')
})

afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

const newRun = async () => await startRun(db, { command: 'sync', settings: {}, startedAt: new Date() })

const configure = async (...ids: readonly string[]) =>
  await registerChannels(
    db,
    ids.map((channelId) => ({ channelId, label: null, group: null, isTest: false })),
    await newRun(),
  )

let day = 0

/** What a run heard, on a day of its own or on the same as the one before. */
const record = async (unknown: readonly string[], answered: readonly string[] = [], isNewDay = true) => {
  if (isNewDay) day += 1
  const serviceDay = `2026-11-${String(day).padStart(2, '0')}`
  const answers = { unknown: new Set(unknown), answered: new Set(answered), serviceDay }
  return await recordChannelAnswers(db, answers, await newRun())
}
const nothing = { gone: [], back: [], tooMany: [] }

const readCounts = async () =>
  (await db.selectFrom('livehouse_ops.channel_states').select(['channel_id', 'unknown_days']).execute()).map(
    ({ channel_id, unknown_days }) => [channel_id, unknown_days],
  )

test('the third day makes a channel gone, said on that day alone', async () => {
  expect(await record(['9'], ['8'])).toEqual(nothing)
  expect(await record(['9'], ['8'])).toEqual(nothing)
  expect([...(await readGoneChannels(db))]).toEqual([])
  expect(await record(['9'], ['8'])).toEqual({ ...nothing, gone: ['9'] })
  expect([...(await readGoneChannels(db))]).toEqual(['9'])
  expect(await record(['9'], ['8'])).toEqual(nothing)
})

test('one answer in between begins the count anew, also in a run in which another stream did not know the channel', async () => {
  await record(['9'])
  await record(['9'])
  await record(['9'], ['9'])
  expect(await readCounts()).toEqual([])
  expect(await record(['9'])).toEqual(nothing)
})

test('a run in which nothing was asked of a channel keeps its count', async () => {
  await record(['9'])
  await record([], ['8'])
  expect(await readCounts()).toEqual([['9', 1]])
})

test('a day counts once, however many runs ask', async () => {
  for (let time = 0; time < 4; time++) await record(['9'], ['8'], time === 0)
  expect(await readCounts()).toEqual([['9', 1]])
})

test('half of the channels can go at once, more cannot: the service has failed', async () => {
  for (let time = 0; time < 2; time++) await record(['8', '9'])
  expect(await record(['8', '9'])).toEqual({ ...nothing, tooMany: ['8', '9'] })
  expect(await record(['8'], ['9'])).toEqual({ ...nothing, gone: ['8'] })
})

test('a gone channel that answers is active again; one that is taken out and put back has three days anew', async () => {
  for (let time = 0; time < 3; time++) await record(['9'])
  await record(['8'])
  expect(await record(['8'], ['9'])).toEqual({ ...nothing, back: ['9'] })
  await configure('9')
  await record([], ['9'])
  await configure('8', '9')
  expect(await record(['8'], ['9'])).toEqual(nothing)
  expect(await readCounts()).toEqual([['8', 1]])
})
