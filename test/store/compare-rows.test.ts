import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { streams } from '../../src/streams/registry.ts'
import { signups } from '../../src/streams/signups.ts'
import { visitors } from '../../src/streams/visitors.ts'
import { compareRows } from '../../src/store/compare-rows.ts'
import { loadRows, prepareToLoad } from '../../src/store/load.ts'
import { rowKeyColumn } from '../../src/store/table-part.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { readIdentified, readItems } from '../helpers/read-items.ts'

const timeZone = 'Asia/Shanghai'

test('what loading would write differs, cell by cell and as text; what it would leave alone does not', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  const items = ['a', 'b', 'c'].map((user_id) => ({
    user_id,
    nick: 'Ann',
    last_ip: '10.0.0.1',
    visit_times: '3',
    watch_time: '00:01:00',
    last_online_time: '2026-11-20 14:00:00',
  }))
  const rows = readItems(visitors, items)
  await db.transaction().execute(async (trx) => {
    await prepareToLoad(trx, timeZone)
    await loadRows(trx, visitors, rows.slice(0, 2), '1')
  })
  expect(await compareRows(db, visitors, rows.slice(0, 2), timeZone)).toEqual([])
  expect(await compareRows(db, visitors, [], timeZone)).toEqual([])

  await sql`update livehouse.visitors set nickname = null, last_ip = '10.0.0.2', watch_seconds = 61,
    last_online_at = last_online_at + interval '1 day', extra = '{"x": 1}', removed_at = '2026-11-20 00:00+08'
    where user_id = 'b'`.execute(db)
  expect(await compareRows(db, visitors, rows, timeZone)).toEqual([
    {
      kind: 'changed',
      key: 'b',
      row: rows[1],
      cells: [
        { column: 'nickname', warehouse: null, source: 'Ann' },
        { column: 'last_ip', warehouse: '10.0.0.2', source: '10.0.0.1' },
        { column: 'watch_seconds', warehouse: '61', source: '60' },
        { column: 'last_online_at', warehouse: '2026-11-21 14:00:00+08', source: '2026-11-20 14:00:00+08' },
        { column: 'extra', warehouse: '{"x": 1}', source: null },
        { column: 'removed_at', warehouse: '2026-11-20 00:00:00+08', source: null },
      ],
    },
    { kind: 'missing', key: 'c', row: rows[2], cells: [] },
  ])
})

test('rows without an id are told by the identity that was made for them', async () => {
  await using database = await createTestDatabase()
  const title = ['id', 'nick', 'phone', 'How?', 'time']
  const rows = readIdentified(signups, [['u', 'Ann', '1', 'well', '2026-11-20 14:00']], { title })
  const missing = await compareRows(database.db, signups, rows, timeZone)
  expect(missing).toMatchObject([{ kind: 'missing', key: rows[0]?.signup_key }])
})

test.each(streams)('$name has a column that tells the rows of a partition apart', ({ columns, key, ...stream }) => {
  const name = rowKeyColumn({ columns, key, ...stream })
  expect(key).toContain(name)
  expect(['field', 'computed']).toContain(columns[name]?.source.kind)
})
