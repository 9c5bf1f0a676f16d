import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { Row } from '../../../src/core/column.ts'
import { createBatch, loadRows, prepareToLoad, transact } from '../../../src/store/load/load.ts'
import { visitors } from '../../../src/streams/visitors.ts'
import { ofFile } from '../../helpers/of-file.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'

const database = ofFile(createTestDatabase)
beforeEach(async () => void (await sql`truncate livehouse.visitors`.execute(database.db)))

const visitor = (id: string, fields: Row = {}): Row => ({ channel_id: '9', user_id: id, extra: null, ...fields })

const readAll = async () =>
  (await sql<Record<string, unknown>>`select * from livehouse.visitors order by user_id`.execute(database.db)).rows

/** Loads rows in one transaction, without a second try after a deadlock. */
const load = async (rows: readonly Row[], runId = '1') =>
  await database.db.transaction().execute(async (trx) => {
    await prepareToLoad(trx, 'Asia/Shanghai')
    return await loadRows(trx, visitors, rows, runId)
  })
const copy = async (rows: readonly Row[], runId = '1') =>
  await transact(database.db, async (trx) => {
    await prepareToLoad(trx, 'Asia/Shanghai')
    const batch = createBatch(visitors, runId)
    for (const row of rows) batch.add(row)
    return await batch.copy(trx)
  })

const full = visitor('full', {
  nickname: '名 "quoted" \\ , null',
  phone: '',
  last_ip: '2001:db8::1',
  visit_count: 3,
  first_login_at: '2026-01-02 03:04:05',
  last_online_at: '2026-01-02 03:04:05+00:00',
  extra: '{"raw": ["a\\"b", null]}',
})
const huge = visitor('huge', { nickname: 'x'.repeat(12_000_000) })
const odd = visitor('odd', { nickname: 'a\nb\tc "a", \\b\\\n\\"\n"1","9",\n,null\r\u0001', phone: null })
// Its texts end in what looks like the start of a line.
const ends = visitor('ends', { nickname: 'a\n', address: '\n', browser: '"7",\n"1","9",\n' })
const rows = [ends, full, huge, odd, visitor('rest')]

test('copied rows are the same as upserted ones, and equal rows stay unchanged', async () => {
  expect(await copy(rows)).toEqual({ inserted: 5, updated: 0, unchanged: 0 })
  const copied = await readAll()
  expect(await copy(rows, '2')).toEqual({ inserted: 0, updated: 0, unchanged: 5 })
  await load(rows, '2')
  // Equal rows are not even locked, because a lock would be written to the WAL.
  const { rows: locked } = await sql`select from livehouse.visitors where xmax::text <> '0'`.execute(database.db)
  expect(locked).toEqual([])
  await sql`truncate livehouse.visitors`.execute(database.db)
  await load(rows)
  const contents = (rows: readonly Record<string, unknown>[]) =>
    rows.map((row) => ({
      ...row,
      inserted_at: row.inserted_at instanceof Date,
      changed_at: row.changed_at instanceof Date,
    }))
  expect(copied).toMatchObject(rows.map(({ user_id, nickname = null }) => ({ user_id, nickname })))
  expect(contents(copied)).toEqual(contents(await readAll()))
})

test('a batch is full at 2,000 rows, or 2 MB', () => {
  const isFull = (...rows: readonly Row[]) => {
    const batch = createBatch(visitors, '1')
    for (const row of rows) batch.add(row)
    return batch.isFull()
  }
  const many = Array.from({ length: 2000 }, (_, index) => visitor(`${index}`))
  expect([many, many.slice(1), [huge], [odd]].map((rows) => isFull(...rows))).toEqual([true, false, true, false])
})

test.each(Object.entries({ load, copy }))('sessions that %s equal keys in another order succeed', async (_, write) => {
  const rows = Array.from({ length: 2000 }, (_row, index) => visitor(`u${index}`, { visit_count: index }))
  const counts = await Promise.all([rows, rows.toReversed(), rows].map((each, at) => write(each, `${at}`)))
  expect(counts.reduce((sum, { inserted }) => sum + inserted, 0)).toBe(2000)
  expect(counts.reduce((sum, { unchanged }) => sum + unchanged, 0)).toBe(4000)
  expect(await readAll()).toHaveLength(2000)
})
