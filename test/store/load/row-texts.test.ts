import { expect, test } from 'vitest'
import { rowsOf } from '../../../src/store/load/row-texts.ts'

test.each([
  ['of a few letters', 'gift'],
  ['with quotes, commas, backslashes and line ends', '"a", \\b\\\n\\"'],
  ['of twelve megabytes', 'x'.repeat(12_000_000)],
])('a copied text %s is read back', (_, text) => {
  const line = `1,"${text.replaceAll(/["\\]/g, '\\$&')}",null\n`
  expect(rowsOf(line, ['id', 'text', 'none'])).toEqual([{ id: '1', text, none: null }])
})
