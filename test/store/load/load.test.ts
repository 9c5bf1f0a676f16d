import { sql, type Transaction } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { Row } from '../../../src/core/column.ts'
import type { Database } from '../../../src/store/database.ts'
import { visitors } from '../../../src/streams/visitors.ts'
import { copyBatch, loadRows, prepareToLoad, transact } from '../../../src/store/load/load.ts'
import { rowsOf } from '../../../src/store/load/row-texts.ts'
import { createVisitorGate } from '../../helpers/visitor-gate.ts'
import { untilBlocked } from '../../helpers/own-locks.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'
import { ofFile } from '../../helpers/of-file.ts'

const database = ofFile(createTestDatabase)
beforeEach(async () => void (await sql`truncate livehouse.visitors`.execute(database.db)))

const visitor = (userId: string, fields: Row = {}): Row => ({
  channel_id: '9',
  user_id: userId,
  extra: null,
  ...fields,
})

const readAll = async () =>
  (await sql<Record<string, unknown>>`select * from livehouse.visitors order by user_id`.execute(database.db)).rows

const within = <T>(work: (trx: Transaction<Database>) => Promise<T>) =>
  transact(database.db, async (trx) => {
    await prepareToLoad(trx, 'Asia/Shanghai')
    return await work(trx)
  })

const copyIn = async (trx: Transaction<Database>, rows: readonly Row[], runId: string) => {
  const batch = copyBatch(visitors, runId)
  batch.add(rows)
  return await batch.write(trx)
}
/** Not begun again where it meets another one. */
const load = async (rows: readonly Row[], runId = '1') =>
  await database.db.transaction().execute(async (trx) => {
    await prepareToLoad(trx, 'Asia/Shanghai')
    return await loadRows(trx, visitors, rows, runId)
  })
const copy = async (rows: readonly Row[], runId = '1') => await within((trx) => copyIn(trx, rows, runId))

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

test.each([
  ['load', load],
  ['copy', copy],
])('sessions that %s the same keys at once in another order all end well', async (_, write) => {
  const rows = Array.from({ length: 2000 }, (_row, index) => visitor(`u${index}`, { visit_count: index }))
  const counts = await Promise.all([rows, rows.toReversed(), rows].map((each, at) => write(each, `${at}`)))
  expect(counts.reduce((sum, { inserted }) => sum + inserted, 0)).toBe(2000)
  expect(counts.reduce((sum, { unchanged }) => sum + unchanged, 0)).toBe(4000)
  expect(await readAll()).toHaveLength(2000)
})

test('a copy that waits for a session which waits for it gives way, and ends well', async () => {
  const gate = await createVisitorGate(database.db, 'b')
  const { promise: hasInserted, resolve: inserted } = Promise.withResolvers<void>()
  const { promise: isHeldUp, resolve: heldUp } = Promise.withResolvers<void>()
  const other = within(async (trx) => {
    await looksForDeadlocksAfter(trx, '10s')
    await loadRows(trx, visitors, [visitor('b')], '1')
    inserted()
    await isHeldUp
    return await loadRows(trx, visitors, [visitor('a')], '1')
  })
  await hasInserted
  const letOn = await gate.close()
  const copying = within(async (trx) => {
    await looksForDeadlocksAfter(trx, '300ms')
    return await copyIn(trx, [visitor('a'), visitor('b')], '2')
  })
  await gate.reached()
  heldUp()
  // Only then does the copy wait for the other one: it is the last in the ring, and finds it.
  await untilBlocked(database.db, sql`locktype = 'transactionid'`)
  await letOn()
  expect(await other).toEqual({ inserted: 1, updated: 0, unchanged: 0 })
  expect(await copying).toEqual({ inserted: 0, updated: 0, unchanged: 2 })
})

/** A session looks once, so long after it began to wait; one that finds a deadlock is ended. */
async function looksForDeadlocksAfter(trx: Transaction<Database>, time: string): Promise<void> {
  await sql`select set_config('deadlock_timeout', ${time}, true)`.execute(trx)
}

test.each([
  ['of a few letters', 'gift'],
  ['with quotes, commas, backslashes and line ends', '"a", \\b\\\n\\"'],
  ['of twelve megabytes', 'x'.repeat(12_000_000)],
])('a copied text %s is read back', (_, text) => {
  const line = `1,"${text.replaceAll(/["\\]/g, '\\$&')}",null\n`
  expect(rowsOf(line, ['id', 'text', 'none'])).toEqual([{ id: '1', text, none: null }])
})
