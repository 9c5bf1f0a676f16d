import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { baseTables } from '../../src/bi/base-tables.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

test('the tables are those of the migrations: columns, types, keys and English words', async () => {
  await using database = await createTestDatabase({ isPublished: false })
  const { rows } = await sql<{ table: string; words: string; key: readonly string[]; columns: readonly string[] }>`
    select c.relname as table, obj_description(c.oid, 'pg_class') as words,
      array(select a.attname::text from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
        where i.indrelid = c.oid and i.indisprimary order by array_position(i.indkey::int2[], a.attnum)) as key,
      array_agg(concat_ws(' | ', a.attname, format_type(a.atttypid, a.atttypmod), col_description(c.oid, a.attnum)) order by a.attname collate "C") as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where n.nspname = 'livehouse' and c.relkind in ('r', 'v') group by c.oid, c.relname`.execute(database.db)
  const declared = Object.entries(baseTables).map(([name, { words, key, columns }]) => {
    const described = Object.entries(columns).map(([column, { type, words }]) => [column, type, words.en].join(' | '))
    return [name, { words: words.en, key, columns: described.toSorted() }]
  })
  const found = rows.map(({ table, ...described }) => [table, described])
  const mend = 'a new column has its type and its words in both languages in its stream'
  expect(Object.fromEntries(declared), mend).toEqual(Object.fromEntries(found))
})

test('every operational table, view and column is described by its migration', async () => {
  await using database = await createTestDatabase({ isPublished: false })
  const { rows } = await sql<{ name: string; comment: string | null }>`
    select concat_ws('.', c.relname, a.attname) as name,
      coalesce(col_description(c.oid, a.attnum), case when a.attnum is null then obj_description(c.oid, 'pg_class') end) as comment
    from pg_class c cross join lateral (
      select attname, attnum from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped
      union all select null, null
    ) a
    where c.relnamespace = 'livehouse_ops'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')`.execute(database.db)
  expect(rows.length).toBeGreaterThan(200)
  expect(rows.filter(({ comment }) => comment === null).map(({ name }) => name)).toEqual([])
})
