import { sql } from 'kysely'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCellList } from '../../src/warehouse/cell-list.ts'
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
    fc.asyncProperty(cells, cells, async (values, more) => {
      const list = createCellList()
      list.append(values)
      list.append(more)
      const { rows } = await sql<{
        values: (string | null)[]
      }>`select ${list.literal()}::text::text[] as values`.execute(database.db)
      expect(rows[0]?.values).toEqual([...values, ...more])
    }),
  )
})

test('a list grows with what is put in', () => {
  const list = createCellList()
  const page = Array.from({ length: 100 }, (_, place) => `价值 ${place}`)
  for (let count = 0; count < 50; count += 1) list.append(page)
  const all = Array.from({ length: 50 }, () => page.map((text) => `"${text}"`).join(','))
  expect(list.literal().toString()).toBe(`{${all.join(',')}}`)
})

test('numbers and booleans go unquoted', () => {
  const cells = createCellList()
  cells.append([1, null, -2])
  cells.append([])
  cells.append([true, false])
  expect(cells.literal().toString()).toBe('{1,null,-2,true,false}')
})

test('none at all is an empty array, also after others have been taken out', () => {
  const cells = createCellList()
  expect(cells.literal().toString()).toBe('{}')
  cells.append(['a'])
  cells.clear()
  expect(cells.literal().toString()).toBe('{}')
  cells.clear()
  cells.append(['b'])
  expect(cells.literal().toString()).toBe('{"b"}')
})
