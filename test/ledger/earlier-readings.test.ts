import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nothingEarlier, readEarlier } from '../../src/ledger/earlier-readings.ts'
import { duplicateItem } from '../../src/ledger/known-duplicates.ts'
import { quarantineItems } from '../../src/ledger/quarantine.ts'
import { startRun } from '../../src/ledger/runs.ts'
import { visitors } from '../../src/streams/visitors.ts'
import { watchRecords } from '../../src/streams/watch-records.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

let database: TestDatabase
let runId: string
beforeAll(async () => {
  database = await createTestDatabase()
  runId = await startRun(database.db, { command: 'sync', settings: {}, startedAt: new Date() })
})
afterAll(async () => await database[Symbol.asyncDispose]())

const earlierOf = async (channel: string) => await readEarlier(database.db, visitors, { channel }, true)

test('of a list that has never been read nothing is there', async () => {
  expect(await earlierOf('1')).toEqual({ ...nothingEarlier, isNew: true })
  expect(await readEarlier(database.db, watchRecords, { channel: '1' }, false)).toEqual(nothingEarlier)
})

test.each([
  ['a row', sql`insert into livehouse.visitors (channel_id, user_id, run_id) values ('row', 'u', 1)`, 'row'],
  [
    'a row that is marked removed',
    sql`insert into livehouse.visitors (channel_id, user_id, run_id, removed_at) values ('removed', 'u', 1, now())`,
    'removed',
  ],
  [
    'a row that was missed',
    sql`insert into livehouse_ops.missed_rows (stream, partition, row_key, missed_at, run_id)
      values ('visitors', 'channel=missed', 'u', now(), 1)`,
    'missed',
  ],
])('a list of which %s is there is not new', async (_, statement, channel) => {
  await statement.execute(database.db)
  expect(await earlierOf(channel)).toEqual(nothingEarlier)
})

test('items in quarantine are seen until they are resolved, and duplicates among them', async () => {
  const origin = { stream: visitors.name, partition: 'channel=2', runId, seenAt: new Date(), timeZone: 'UTC' }
  await quarantineItems(database.db, origin, [{ raw: '{}', reason: 'no user_id', path: 'user_id', headers: null }])
  expect(await earlierOf('2')).toMatchObject({ hasDuplicates: false })
  await quarantineItems(database.db, origin, [duplicateItem('{"user_id": "a"}', 'user_id', 2)])
  expect(await earlierOf('2')).toMatchObject({ hasDuplicates: true })
  await sql`update livehouse_ops.quarantine set resolved_at = now()`.execute(database.db)
  expect(await earlierOf('2')).toMatchObject({ hasDuplicates: false })
})
