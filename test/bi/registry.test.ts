import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeViews } from '../../src/bi/describe-views.ts'
import { biViews } from '../../src/bi/registry.ts'
import { publishBi } from '../../src/db/bi/publish-bi.ts'
import { readBiState } from '../../src/db/bi/read-bi-state.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const MARK = '<!-- generated from the declarations from here on: npx vitest run test/bi/registry.test.ts -u -->\n'

test('the contract: views, columns, types and their order are those of docs/bi.md', async () => {
  const path = join(import.meta.dirname, '../../docs/bi.md')
  const [words = ''] = readFileSync(path, 'utf8').split(MARK)
  await expect(`${words}${MARK}\n${describeViews(biViews)}`).toMatchFileSnapshot(path)
})

test('each view has the columns that it declares, a key of them, and comments in both languages', async () => {
  await using database = await createTestDatabase()
  expect(await publishBi(database.db)).toEqual({ status: 'published' })
  const { views } = await readBiState(database.db)
  const declared = biViews.map(({ name, columns }) => [
    name,
    Object.entries(columns).map(([column, { type }]) => `${column} ${type}`),
  ])
  expect(Object.fromEntries(views)).toEqual(Object.fromEntries(declared))
  for (const { name, key, columns, grain, remarks } of biViews) {
    expect(
      key.filter((column) => !(column in columns)),
      name,
    ).toEqual([])
    for (const { en, zh } of [grain, ...Object.values(columns).map(({ words }) => words)]) {
      expect(zh, `${name}: ${en}`).toMatch(/\p{Script=Han}/u)
      expect(en, name).not.toMatch(/\p{Script=Han}/u)
    }
    expect(remarks.en === '', name).toBe(remarks.zh === '')
  }
})

test('a boolean is named is_…, hours stand beside seconds, and extra is nowhere', () => {
  for (const { name, columns } of biViews) {
    for (const [column, { type }] of Object.entries(columns)) {
      expect(column.startsWith('is_'), `${name}.${column}`).toBe(type === 'boolean')
    }
    const names = Object.keys(columns)
    const durations = names.filter((column) => column.endsWith('_seconds'))
    expect(names, name).toEqual(expect.arrayContaining(durations.map((column) => column.replace(/seconds$/, 'hours'))))
    expect(Object.keys(columns)).not.toContain('extra')
  }
})

test('the schema, each view, column and role is described in the database', async () => {
  await using database = await createTestDatabase()
  await publishBi(database.db)
  const { rows } = await sql<{ name: string; comment: string | null }>`
    select concat_ws('.', c.relname, a.attname) as name,
      coalesce(col_description(c.oid, a.attnum), case when a.attnum is null then obj_description(c.oid, 'pg_class') end) as comment
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
      left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where n.nspname = 'livehouse_bi'
    union all select nspname, obj_description(oid, 'pg_namespace') from pg_namespace where nspname = 'livehouse_bi'
    union all select rolname, shobj_description(oid, 'pg_authid') from pg_roles where rolname in ('livehouse_analyst', 'livehouse_pii')`.execute(
    database.db,
  )
  expect(rows.length).toBeGreaterThan(200)
  expect(rows.filter(({ comment }) => comment === null)).toEqual([])
})
