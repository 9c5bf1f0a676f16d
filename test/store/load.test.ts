import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Row } from '../../src/core/column.ts'
import type { Database } from '../../src/store/database.ts'
import { visitors } from '../../src/streams/visitors.ts'
import { type LoadOptions, loadRows, prepareToLoad } from '../../src/store/load.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

let database: TestDatabase
let db: Kysely<Database>

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
})

beforeEach(async () => {
  await sql`truncate livehouse.visitors`.execute(db)
})

afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

const visitor = (userId: string, fields: Row = {}): Row => ({
  channel_id: '9',
  user_id: userId,
  extra: null,
  ...fields,
})

const load = (rows: readonly Row[], runId = '1', options: LoadOptions = {}, timeZone = 'Asia/Shanghai') =>
  db.transaction().execute(async (trx) => {
    await prepareToLoad(trx, timeZone)
    return await loadRows(trx, visitors, rows, runId, options)
  })

const readAll = async () =>
  (await sql<Record<string, unknown>>`select * from livehouse.visitors order by user_id`.execute(db)).rows

test('counts are exact: new rows inserted, changed ones updated, equal ones untouched', async () => {
  expect(await load([visitor('a'), visitor('b', { nickname: 'B' })])).toEqual({ inserted: 2, updated: 0, unchanged: 0 })
  const counts = await load([visitor('a'), visitor('b', { nickname: 'BB' }), visitor('c')], '2')
  expect(counts).toEqual({ inserted: 1, updated: 1, unchanged: 1 })
  expect((await readAll()).map(({ user_id, run_id }) => [user_id, run_id])).toEqual([
    ['a', '1'],
    ['b', '2'],
    ['c', '2'],
  ])
})

test('loading equal rows again writes nothing: no new row version, and changed_at stays', async () => {
  await load([visitor('a', { last_ip: '10.0.0.1', extra: '{"b": 1, "a": 2}', first_login_at: '2026-01-02 03:04:05' })])
  const versions = () => sql`select ctid::text, xmin::text, changed_at from livehouse.visitors`.execute(db)
  const before = await versions()
  await load(
    [visitor('a', { last_ip: '10.0.0.1', extra: '{"a": 2, "b": 1}', first_login_at: '2026-01-02 03:04:05' })],
    '2',
  )
  expect((await versions()).rows).toEqual(before.rows)
})

test('times without an offset are read in the zone of the service, those with one keep it', async () => {
  await load([visitor('a', { first_login_at: '2026-01-02 03:04:05', last_online_at: '2026-01-02 03:04:05+00:00' })])
  await load([visitor('b', { first_login_at: '2026-07-01 12:00:00' })], '1', {}, 'Europe/Berlin')
  const [a, b] = await readAll()
  expect(a?.first_login_at).toEqual(new Date('2026-01-01T19:04:05Z'))
  expect(a?.last_online_at).toEqual(new Date('2026-01-02T03:04:05Z'))
  expect(b?.first_login_at).toEqual(new Date('2026-07-01T10:00:00Z'))
})

test('a removed row that is back is no longer removed, and counts as updated', async () => {
  await load([visitor('a')])
  await sql`update livehouse.visitors set removed_at = now()`.execute(db)
  expect(await load([visitor('a')], '2')).toEqual({ inserted: 0, updated: 1, unchanged: 0 })
  expect((await readAll())[0]).toMatchObject({ removed_at: null, run_id: '2' })
})

test('onlyNewer leaves a fresher row alone', async () => {
  await load([visitor('a', { last_online_at: '2026-01-02 00:00:00', nickname: 'fresh' })])
  const stale = visitor('a', { last_online_at: '2026-01-01 00:00:00', nickname: 'stale' })
  expect(await load([stale], '2', { onlyNewer: true })).toEqual({ inserted: 0, updated: 0, unchanged: 1 })
  expect((await readAll())[0]).toMatchObject({ nickname: 'fresh' })
  expect(await load([stale], '2')).toEqual({ inserted: 0, updated: 1, unchanged: 0 })
})

test('two sessions that load the same keys at once both end well', async () => {
  const rows = Array.from({ length: 500 }, (_, index) => visitor(`u${index}`, { visit_count: index }))
  const counts = await Promise.all([load(rows), load(rows.toReversed(), '2'), load(rows, '3')])
  expect(counts.reduce((sum, { inserted }) => sum + inserted, 0)).toBe(500)
  expect(await readAll()).toHaveLength(500)
})
