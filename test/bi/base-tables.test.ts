import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { baseTables } from '../../src/bi/base-tables.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

test('the declared tables equal those of the migrations: columns, types, keys and English descriptions', async () => {
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
  const migrated = rows.map(({ table, ...described }) => [table, described])
  const hint = 'a new column has its type and its words in both languages in its stream'
  expect(Object.fromEntries(declared), hint).toEqual(Object.fromEntries(migrated))
})
