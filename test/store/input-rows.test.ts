import * as fc from 'fast-check'
import { CompiledQuery, sql } from 'kysely'
import { expect, test } from 'vitest'
import { cellsText } from '../../src/store/input-rows.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const odd = [
  'null',
  'NULL',
  '',
  ',',
  '"',
  '""',
  '{',
  '}',
  '],[',
  '\\',
  '\\.',
  '\n\\.\n',
  '\\"',
  '\\n',
  '\n',
  '\r',
  '\t',
]

test('any text survives the way through an array literal, and through a line of COPY', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const { db } = database
  await sql`create table texts (one text, two text, three text, place serial)`.execute(db)
  const texts = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\u0000', '').toWellFormed())
  const cell = fc.oneof(texts, fc.constantFrom(...odd, '\u001f', '\u007f', '\u2028'), fc.constant(null))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(cell, cell, cell)), async (rows) => {
      const values = rows.flat()
      const { rows: read } = await sql<{
        values: (string | null)[]
      }>`select ${`{${cellsText(values)}}`}::text[] as values`.execute(db)
      expect(read[0]?.values).toEqual(values)

      await sql`truncate texts restart identity`.execute(db)
      const lines = rows.map((row) => `${cellsText(row)}\n`).join('')
      const copy = `copy texts (one, two, three) from stdin with (format csv, null 'null', quote '"', escape '\\')`
      await db.executeQuery(CompiledQuery.raw(copy, [Buffer.from(lines)]))
      const { rows: copied } = await sql<{
        row: (string | null)[]
      }>`select array[one, two, three] as row from texts order by place`.execute(db)
      expect(copied.map(({ row }) => row)).toEqual(rows)
    }),
    { numRuns: 200 },
  )
})

test('numbers and booleans go unquoted, also beside a control character', () => {
  expect(cellsText([1, null, -2, true, false])).toBe('1,null,-2,true,false')
  expect(cellsText([1, null, '\u0001"', true])).toBe('1,null,"\u0001\\"",true')
  expect(cellsText([])).toBe('')
})
