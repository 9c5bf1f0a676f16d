import { expect, test } from 'vitest'
import { type CopyTable, orderByReference } from '../../../src/store/copy/read-tables.ts'

function table(name: string, ...references: string[]): CopyTable {
  return { name, columns: ['id'], references }
}

test.each([
  [[table('a', 'b'), table('b', 'c'), table('c')], 'c b a'],
  [[table('a'), table('b', 'a', 'c'), table('c', 'a')], 'a c b'],
  [[table('a', 'b'), table('b', 'a')], 'b a'],
])('a table comes after those that it refers to (case %#)', (tables, order) => {
  expect(
    orderByReference(tables)
      .map(({ name }) => name)
      .join(' '),
  ).toBe(order)
})
