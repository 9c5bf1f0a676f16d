import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { streams } from '../src/streams/registry.ts'
import { createTestDatabase, type TestDatabase } from './helpers/postgres.ts'

/** Columns that every table has beside those that its stream declares. */
const standardColumns = ['extra', 'run_id', 'inserted_at', 'changed_at']

interface TableColumn {
  readonly name: string
  readonly type: string
  readonly comment: string | null
  readonly isNullable: boolean
}

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})

afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

async function readTable(table: string): Promise<readonly TableColumn[]> {
  const { rows } = await sql<TableColumn>`
    select attname as name, format_type(atttypid, atttypmod) as type, not attnotnull as "isNullable",
      col_description(attrelid, attnum) as comment
    from pg_attribute where attrelid = ${`livehouse.${table}`}::regclass and attnum > 0 and not attisdropped
    order by attnum`.execute(database.db)
  return rows
}

async function readKey(table: string): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_index, unnest(indkey) with ordinality as part (attnum, place)
      join lateral (select attname, attnum from pg_attribute where attrelid = ${`livehouse.${table}`}::regclass) as a
      using (attnum)
    where indrelid = ${`livehouse.${table}`}::regclass and indisprimary order by place`.execute(database.db)
  return rows.map(({ name }) => name)
}

/** As Postgres names the types. */
const postgresNames: Readonly<Record<string, string>> = { timestamptz: 'timestamp with time zone' }

describe.each(streams.map((stream) => [stream.name, stream] as const))('%s', (_name, stream) => {
  test('its declaration is the migrated table: names, order, types and comments', async () => {
    const table = await readTable(stream.table)
    const declared = Object.entries(stream.columns).map(([name, { type, comment }]) => ({
      name,
      type: postgresNames[type] ?? type,
      comment,
    }))
    const standard = stream.marksRemoved ? ['removed_at', ...standardColumns] : standardColumns
    expect(table.slice(0, declared.length).map(({ name, type, comment }) => ({ name, type, comment }))).toEqual(
      declared,
    )
    expect(table.slice(declared.length).map(({ name }) => name)).toEqual(standard)
    expect(table.filter(({ comment }) => comment === null)).toEqual([])
  })

  test('its key is the primary key, and every other field may be NULL', async () => {
    expect(await readKey(stream.table)).toEqual(stream.key)
    const table = await readTable(stream.table)
    const optional = Object.entries(stream.columns).filter(
      ([name, { source }]) => source.kind === 'field' && !stream.key.includes(name),
    )
    for (const [name] of optional) expect(table.find((column) => column.name === name)?.isNullable, name).toBe(true)
  })

  test('its key columns always have a value: required, from the partition, or computed', () => {
    for (const name of stream.key) {
      const source = stream.columns[name]?.source
      expect(source?.kind === 'field' ? source.isRequired : source !== undefined, name).toBe(true)
    }
  })
})
