import pLimit from 'p-limit'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { parseExact } from '../../src/service/json.ts'
import { silentLog } from '../../src/core/log.ts'
import type { Stream } from '../../src/core/stream.ts'
import { openWallClock } from '../../src/core/wall-clock.ts'
import type { Database } from '../../src/store/database.ts'
import { createBatchLoader } from '../../src/sync/batch-loader.ts'
import { createReadAhead } from '../../src/sync/read-ahead.ts'
import { startRun } from '../../src/ledger/runs.ts'
import { watchRecords } from '../../src/streams/watch-records.ts'
import { watchRecordsV1 } from '../../src/streams/watch-records-v1.ts'
import { itemReader } from '../../src/transform/field.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { untilBlocked } from '../helpers/own-locks.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'
import { readItems } from '../helpers/read-items.ts'

let database: TestDatabase
let db: Kysely<Database>
beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
})
afterAll(async () => await database[Symbol.asyncDispose]())
beforeEach(async () => {
  await sql`truncate livehouse_ops.quarantine, livehouse.watch_records`.execute(db)
})

const partition = { channel: '9' }
const clock = createFakeClock()

/** One record as version 1 gives it. */
const record = (fields: object = {}) => ({
  record_id: 9007199254740993n,
  user_id: 'u1',
  nick: 'A',
  online_time: '125:03:09',
  first_login_time: '2018-11-20 14:03',
  last_online_time: '2018-11-20 15:00',
  ...fields,
})
const recordV2 = (fields: object = {}) => record({ assign_id: 'a1', live_time: '00:00:07', ...fields })

/** Loads items as a run of the stream would. `land` runs before the commit. */
async function load(stream: Stream, items: readonly unknown[], land = async (): Promise<void> => {}) {
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt: new Date(clock.now()) })
  const deps = {
    db,
    clock,
    runId,
    timeZone: 'Asia/Shanghai',
    claimableMs: clock.now,
    wallTimeAt: openWallClock('Asia/Shanghai'),
    fetchPage: async () => await Promise.reject(new Error('nothing is asked')),
    openItemReader: itemReader,
    log: silentLog,
    signal: new AbortController().signal,
    report: () => {},
    readAhead: createReadAhead(1, createFakeClock()),
    requireLease: async () => {},
    loadLimit: pLimit(1),
    pagesPerSlice: 50,
  }
  const loader = createBatchLoader({ stream, partition, window: undefined, covers: undefined }, deps)
  await loader.add(readItems(stream, items, {}, partition))
  await loader.finish(land)
  return loader.counts()
}

const readRows = async () =>
  (
    await sql<Record<string, unknown>>`
    select record_id, user_id, assign_id, nickname, live_seconds, api_version from livehouse.watch_records order by 1`.execute(
      db,
    )
  ).rows
const readQuarantine = async () =>
  await db.selectFrom('livehouse_ops.quarantine').select(['stream', 'partition', 'reason', 'path', 'raw']).execute()

test('version 1 inserts rows and updates its own', async () => {
  expect(await load(watchRecordsV1, [record()])).toMatchObject({ inserted: 1 })
  expect(await load(watchRecordsV1, [record({ nick: 'B' })])).toMatchObject({ updated: 1 })
  expect(await load(watchRecordsV1, [record({ nick: 'B' })])).toMatchObject({ unchanged: 1, quarantined: 0 })
  expect(await readRows()).toMatchObject([{ nickname: 'B', assign_id: null, live_seconds: null, api_version: 1 }])
})

test('version 1 never touches a row of version 2', async () => {
  await load(watchRecords, [recordV2()])
  const counts = await load(watchRecordsV1, [record({ nick: 'B', first_login_time: '2018-11-20 14:03:59' })])
  expect(counts).toMatchObject({ inserted: 0, updated: 0, unchanged: 1, quarantined: 0 })
  expect(await readRows()).toMatchObject([{ nickname: 'A', assign_id: 'a1', api_version: 2 }])
})

test('version 2 takes a row over entirely', async () => {
  await load(watchRecordsV1, [record({ assign_id: 'old', nick: 'B' })])
  expect(await readRows()).toMatchObject([{ assign_id: 'old', api_version: 1 }])
  expect(await load(watchRecords, [recordV2({ assign_id: null })])).toMatchObject({ updated: 1, quarantined: 0 })
  expect(await readRows()).toMatchObject([{ nickname: 'A', assign_id: null, live_seconds: 7, api_version: 2 }])
  expect(await readQuarantine()).toEqual([])
})

test.each<[string, object, string]>([
  ['user', { user_id: 'u2' }, 'conflict: version 2 has this record_id with another user_id'],
  [
    'entry minute',
    { first_login_time: '2018-11-20 14:04' },
    'conflict: version 2 has this record_id with another entered_at',
  ],
  [
    'user and entry minute',
    { user_id: 'u2', first_login_time: '2017-11-20 14:03' },
    'conflict: version 2 has this record_id with another user_id and entered_at',
  ],
])('one id with another %s: version 1 goes to quarantine, whichever came first', async (_what, other, reason) => {
  const conflict = record({ ...other, nick: '甲"B', novelty: { big: 9007199254740993n } })
  const kept = [{ stream: 'watch_records_v1', partition: 'channel=9', path: 'record_id', reason }]
  const itself = { nickname: 'A', assign_id: 'a1', api_version: 2 }

  await load(watchRecords, [recordV2()])
  expect(await load(watchRecordsV1, [conflict, record({ record_id: 5 })])).toMatchObject({
    inserted: 1,
    unchanged: 0,
    quarantined: 1,
  })
  expect(await readQuarantine()).toMatchObject(kept)
  expect(await readRows()).toMatchObject([{ record_id: '5', api_version: 1 }, itself])
  await load(watchRecordsV1, [conflict])
  expect(await readQuarantine()).toHaveLength(1)

  await sql`truncate livehouse_ops.quarantine, livehouse.watch_records`.execute(db)
  await load(watchRecordsV1, [conflict])
  expect(await load(watchRecords, [recordV2()])).toMatchObject({ updated: 1, quarantined: 0 })
  expect(await readRows()).toMatchObject([itself])
  const items = await readQuarantine()
  expect(items).toMatchObject(kept)
  const [again] = readItems(watchRecordsV1, [parseExact(items[0]?.raw ?? '')], {}, partition)
  const [before] = readItems(watchRecordsV1, [conflict], {}, partition)
  const parsed = (row: typeof again) => ({
    ...row,
    extra: parseExact(String(row?.extra)),
    entered_at: null,
    left_at: null,
  })
  expect(parsed(again)).toEqual(parsed(before))
  expect(String(again?.entered_at).slice(0, 16)).toBe(String(before?.entered_at).slice(0, 16))
})

test.each<[string, object]>([
  ['no user', { user_id: '' }],
  ['no entry', { first_login_time: '' }],
])('with %s an item contradicts nothing', async (_what, fields) => {
  await load(watchRecords, [recordV2()])
  expect(await load(watchRecordsV1, [record(fields)])).toMatchObject({ quarantined: 0 })
  await load(watchRecords, [recordV2(fields)])
  expect(await load(watchRecordsV1, [record()])).toMatchObject({ quarantined: 0 })
})

test('written at the same time, neither misses the other', async () => {
  const landing = Promise.withResolvers<void>()
  const landed = Promise.withResolvers<void>()
  const first = load(watchRecordsV1, [record({ user_id: 'u2' })], async () => {
    landing.resolve()
    await landed.promise
  })
  await landing.promise
  const second = load(watchRecords, [recordV2()])
  await untilBlocked(db, sql`locktype = 'transactionid'`)
  landed.resolve()
  await Promise.all([first, second])
  expect(await readRows()).toMatchObject([{ user_id: 'u1', api_version: 2 }])
  expect(await readQuarantine()).toHaveLength(1)
})
