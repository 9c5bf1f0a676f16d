import { sql } from 'kysely'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { arrayLiteral } from '../../src/warehouse/array-literal.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

test('any text survives the way through an array literal', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const texts = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\u0000', '').toWellFormed())
  const cells = fc.array(
    fc.oneof(
      texts,
      fc.constantFrom(
        'NULL',
        'null',
        '',
        '{',
        '}',
        ',',
        '"',
        '\\',
        '\\"',
        '\\n',
        '\n',
        '\t',
        '\u001f',
        '\u007f',
        '\u2028',
      ),
      fc.constant(null),
    ),
  )
  await fc.assert(
    fc.asyncProperty(cells, async (values) => {
      const { rows } = await sql<{
        values: (string | null)[]
      }>`select ${arrayLiteral(values)}::text[] as values`.execute(database.db)
      expect(rows[0]?.values).toEqual(values)
    }),
  )
})

test('numbers and booleans go unquoted', () => {
  expect(arrayLiteral([1, null, -2])).toBe('{1,null,-2}')
  expect(arrayLiteral([true, false])).toBe('{true,false}')
  expect(arrayLiteral([])).toBe('{}')
})
