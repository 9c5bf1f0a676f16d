import { array, asyncProperty, assert, constantFrom, oneof, string } from 'fast-check'
import { CompiledQuery, sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Row } from '../../src/core/column.ts'
import type { LoadTable } from '../../src/core/stream.ts'
import { constantColumn, textField } from '../../src/streams/columns.ts'
import { createRowLines } from '../../src/warehouse/row-lines.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const table: LoadTable = {
  table: 'texts',
  columns: { one: textField('one', ''), two: textField('two', ''), fixed: constantColumn('text', 'f', '') },
  key: ['one'],
  marksRemoved: false,
}

const rowOf = (one: string | null, two: string | null): Row => ({ one, two, fixed: 'f', extra: null })

test('any text survives the way through a line of COPY, and back', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  await sql`create table texts (run_id bigint, one text, two text, fixed text, extra jsonb, place serial)`.execute(
    database.db,
  )
  const text = oneof(
    string({ unit: 'grapheme' }).map((value) => value.replaceAll('\u0000', '').toWellFormed()),
    constantFrom(
      'null',
      'NULL',
      '',
      ',',
      '"',
      '""',
      '\\',
      '\\.',
      '\\"',
      '\\n',
      '\n',
      '\r',
      '\t',
      '\u007f',
      '\u2028',
      '],[',
    ),
    constantFrom(null),
  )
  await assert(
    asyncProperty(array(text, { minLength: 2 }), async (texts) => {
      const lines = createRowLines(table, '42')
      const rows = texts.slice(1).map((two, index) => rowOf(texts[index] ?? null, two))
      lines.append(rows)
      expect(lines.size()).toBe(rows.length)
      const plain = rows.filter((row) => !lines.others().includes(row))
      expect(lines.rows()).toEqual([...plain, ...lines.others()])
      expect(lines.others().every(({ one, two }) => /\p{Cc}|\\/u.test(`${one}${two}`))).toBe(true)

      await sql`truncate texts restart identity`.execute(database.db)
      const into = `texts (${lines.columns.join(', ')})`
      const statement = `copy ${into} from stdin with (format csv, null 'null', quote '"', escape '\\')`
      await database.db.executeQuery(CompiledQuery.raw(statement, [lines.csv()]))
      const { rows: copied } = await sql<Row>`select one, two, fixed, extra, run_id from texts order by place`.execute(
        database.db,
      )
      expect(copied).toEqual(plain.map((row) => ({ ...row, run_id: '42' })))
    }),
    { numRuns: 200 },
  )
})

test('lines grow beyond what they first had room for, and hold the next rows after they were cleared', () => {
  const lines = createRowLines(table, '1')
  const long = '话'.repeat(30_000)
  lines.append([rowOf('a', long), rowOf('b', long)])
  expect(lines.rows()).toEqual([rowOf('a', long), rowOf('b', long)])
  lines.append([rowOf('d', '\t')])
  lines.clear()
  expect(lines.size()).toBe(0)
  expect(lines.csv()).toHaveLength(0)
  lines.append([rowOf('c', null)])
  expect(lines.csv().toString()).toBe('1,"c",null,"f",null\n')
  expect(lines.others()).toEqual([])
})
