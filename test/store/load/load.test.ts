import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { Row } from '../../../src/core/column.ts'
import { visitors } from '../../../src/streams/visitors.ts'
import { copyBatch, loadRows, prepareToLoad, transact } from '../../../src/store/load/load.ts'
import { rowsOf } from '../../../src/store/load/row-texts.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'
import { ofFile } from '../../helpers/of-file.ts'

const database = ofFile(createTestDatabase)
beforeEach(async () => void (await sql`truncate livehouse.visitors`.execute(database.db)))

const visitor = (id: string, fields: Row = {}): Row => ({ channel_id: '9', user_id: id, extra: null, ...fields })

const readAll = async () =>
  (await sql<Record<string, unknown>>`select * from livehouse.visitors order by user_id`.execute(database.db)).rows

/** Not begun again where it meets another one. */
const load = async (rows: readonly Row[], runId = '1') =>
  await database.db.transaction().execute(async (trx) => {
    await prepareToLoad(trx, 'Asia/Shanghai')
    return await loadRows(trx, visitors, rows, runId)
  })
const copy = async (rows: readonly Row[], runId = '1') =>
  await transact(database.db, async (trx) => {
    await prepareToLoad(trx, 'Asia/Shanghai')
    const batch = copyBatch(visitors, runId)
    batch.add(rows)
    return await batch.write(trx)
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
const odd = visitor('odd', { nickname: 'a\nb\tc', phone: null })

test('new rows that are copied are the same as those that are upserted', async () => {
  expect(await copy([full, odd, visitor('bare')])).toEqual({ inserted: 3, updated: 0, unchanged: 0 })
  const copied = await readAll()
  expect(await copy([full, odd, visitor('bare')], '2')).toEqual({ inserted: 0, updated: 0, unchanged: 3 })
  await sql`truncate livehouse.visitors`.execute(database.db)
  await load([full, odd, visitor('bare')])
  const contents = (rows: readonly Record<string, unknown>[]) =>
    rows.map((row) => ({
      ...row,
      inserted_at: row.inserted_at instanceof Date,
      changed_at: row.changed_at instanceof Date,
    }))
  expect(copied).toHaveLength(3)
  expect(contents(copied)).toEqual(contents(await readAll()))
})

test('a value that the table refuses fails the copy', async () => {
  await expect(copy([visitor('a', { last_ip: 'no address' })])).rejects.toThrow('no address')
  expect(await readAll()).toEqual([])
})

test.each(Object.entries({ load, copy }))('sessions that %s equal keys in another order end well', async (_, write) => {
  const rows = Array.from({ length: 2000 }, (_row, index) => visitor(`u${index}`, { visit_count: index }))
  const counts = await Promise.all([rows, rows.toReversed(), rows].map((each, at) => write(each, `${at}`)))
  expect(counts.reduce((sum, { inserted }) => sum + inserted, 0)).toBe(2000)
  expect(counts.reduce((sum, { unchanged }) => sum + unchanged, 0)).toBe(4000)
  expect(await readAll()).toHaveLength(2000)
})

test.each([
  ['of a few letters', 'gift'],
  ['with quotes, commas, backslashes and line ends', '"a", \\b\\\n\\"'],
  ['of twelve megabytes', 'x'.repeat(12_000_000)],
])('a copied text %s is read back', (_, text) => {
  const line = `1,"${text.replaceAll(/["\\]/g, '\\$&')}",null\n`
  expect(rowsOf(line, ['id', 'text', 'none'])).toEqual([{ id: '1', text, none: null }])
})
