import type { Kysely } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { readGoneChannels, recordChannelAnswers } from '../../src/state/channel-states.ts'
import { startRun } from '../../src/state/runs.ts'
import { registerChannels } from '../../src/warehouse/channels.ts'
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

const record = async (unknown: readonly string[], answered: readonly string[] = [], runId?: string) =>
  await recordChannelAnswers(db, { unknown: new Set(unknown), answered: new Set(answered) }, runId ?? (await newRun()))

const readCounts = async () =>
  (await db.selectFrom('livehouse_ops.channel_states').select(['channel_id', 'unknown_runs']).execute()).map(
    ({ channel_id, unknown_runs }) => [channel_id, unknown_runs],
  )

test('the third run in a row makes a channel gone, said in that run alone', async () => {
  expect(await record(['9'], ['8'])).toEqual({ gone: [], back: [] })
  expect(await record(['9'], ['8'])).toEqual({ gone: [], back: [] })
  expect([...(await readGoneChannels(db))]).toEqual([])
  expect(await record(['9'], ['8'])).toEqual({ gone: ['9'], back: [] })
  expect([...(await readGoneChannels(db))]).toEqual(['9'])
  expect(await record(['9'], ['8'])).toEqual({ gone: [], back: [] })
})

test('one answer in between begins the count anew, also in a run in which another stream did not know the channel', async () => {
  await record(['9'])
  await record(['9'])
  await record(['9'], ['9'])
  expect(await readCounts()).toEqual([])
  expect(await record(['9'])).toEqual({ gone: [], back: [] })
})

test('a run in which nothing was asked of a channel keeps its count', async () => {
  await record(['9'])
  await record([], ['8'])
  expect(await readCounts()).toEqual([['9', 1]])
})

test('a run counts once, however often it is recorded', async () => {
  const runId = await newRun()
  for (let time = 0; time < 4; time++) await record(['9'], [], runId)
  expect(await readCounts()).toEqual([['9', 1]])
})

test('a gone channel that answers is active again; one that is taken out and put back has three runs anew', async () => {
  for (let run = 0; run < 3; run++) await record(['9', '8'])
  expect(await record(['8'], ['9'])).toEqual({ gone: [], back: ['9'] })
  await configure('9')
  await record([], ['9'])
  await configure('8', '9')
  expect(await record(['8'], ['9'])).toEqual({ gone: [], back: [] })
  expect(await readCounts()).toEqual([['8', 1]])
})
