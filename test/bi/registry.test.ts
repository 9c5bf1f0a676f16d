import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { publishBi } from '../../src/bi/publish/publish-bi.ts'
import { biViews } from '../../src/bi/registry.ts'
import type { Database } from '../../src/store/database.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

test('each view has the columns that it declares, a key of them, and comments in both languages', async () => {
  await using database = await createTestDatabase({ isPublished: false })
  expect(await publishBi(database.db)).toEqual({ status: 'published' })
  const { rows: views } = await sql<{ name: string; columns: readonly string[] }>`
    select c.relname::text as name, array_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where c.relnamespace = 'livehouse_bi'::regnamespace group by c.relname`.execute(database.db)
  const declared = biViews.map(({ name, columns }) => [
    name,
    Object.entries(columns).map(([column, { type }]) => `${column} ${type}`),
  ])
  expect(Object.fromEntries(views.map(({ name, columns }) => [name, columns]))).toEqual(Object.fromEntries(declared))
  const { rows: barriers } = await sql<{ name: string }>`
    select relname::text as name from pg_class
    where relnamespace = 'livehouse_bi'::regnamespace and reloptions = '{security_barrier=true}'`.execute(database.db)
  const hiding = biViews.filter(({ hidesRows }) => hidesRows)
  expect(barriers.map(({ name }) => name).toSorted()).toEqual(hiding.map(({ name }) => name).toSorted())
  for (const { name, key, columns, grain, remarks } of biViews) {
    expect(Object.keys(columns), name).toEqual(expect.arrayContaining([...key]))
    for (const { en, zh } of [grain, ...Object.values(columns).map(({ words }) => words)]) {
      expect(zh, `${name}: ${en}`).toMatch(/\p{Script=Han}/u)
      expect(en, name).not.toMatch(/\p{Script=Han}/u)
    }
    expect(remarks.en === '', name).toBe(remarks.zh === '')
  }
})

test('booleans are named is_…, seconds have hours beside them, and no view has extra', () => {
  for (const { name, columns } of biViews) {
    for (const [column, { type }] of Object.entries(columns))
      expect(column.startsWith('is_'), `${name}.${column}`).toBe(type === 'boolean')
    const names = Object.keys(columns)
    const durations = names.filter((column) => column.endsWith('_seconds'))
    expect(names, name).toEqual(expect.arrayContaining(durations.map((column) => column.replace(/seconds$/, 'hours'))))
    expect(Object.keys(columns)).not.toContain('extra')
  }
})

test('every table and view for analysts has a comment in the database, in Chinese, then in English again', async () => {
  await using database = await createTestDatabase()
  for (const language of ['zh', 'en'] as const) {
    await publishBi(database.db, { settings: { currency: undefined, masked: undefined, language } })
    expect(await publishBi(database.db)).toEqual({ status: 'unchanged' })
    const described = await readComments(database.db, ['livehouse', 'livehouse_bi'])
    expect(described.length).toBeGreaterThan(350)
    const isOther = (comment: string | null) => /\p{Script=Han}/u.test(comment ?? '') !== (language === 'zh')
    expect(described.filter(({ comment }) => comment === null || isOther(comment))).toEqual([])
  }
})

test('every operational table, view and column is described by its migration', async () => {
  await using database = await createTestDatabase({ isPublished: false })
  const described = await readComments(database.db, ['livehouse_ops'])
  expect(described.length).toBeGreaterThan(200)
  expect(described.filter(({ comment }) => comment === null)).toEqual([])
})

async function readComments(db: Kysely<Database>, schemas: readonly string[]) {
  const { rows } = await sql<{ name: string; comment: string | null }>`
    select concat_ws('.', n.nspname, c.relname, a.attname) as name,
      coalesce(col_description(c.oid, a.attnum), case when a.attnum is null then obj_description(c.oid, 'pg_class') end) as comment
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
      left join lateral (
        select attname, attnum from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped
        union all select null, null
      ) a on true
    where n.nspname = any (${schemas}) and c.relkind in ('r', 'p', 'v', 'm')
    union all select nspname, obj_description(oid, 'pg_namespace')
    from pg_namespace where nspname = any (${schemas})`.execute(db)
  return rows
}
