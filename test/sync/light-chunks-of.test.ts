import { expect, test } from 'vitest'
import { lightChunksOf } from '../../src/sync/light-chunks-of.ts'

const sizesOf = (texts: readonly number[], most = 1000) => {
  const rows = texts.map((length, id) => ({ id, text: '问'.repeat(length) }))
  const chunks = [...lightChunksOf(rows, most)]
  expect(chunks.flat()).toEqual(rows)
  return chunks.map(({ length }) => length)
}

test.each<[string, readonly number[], readonly number[]]>([
  ['no row', [], []],
  ['light rows, as many as a statement takes', Array.from({ length: 2500 }, () => 10), [1000, 1000, 500]],
  ['rows of hundreds of answers, fewer', Array.from({ length: 90 }, () => 50_000), [40, 40, 10]],
  ['a row that is too heavy for any, alone', [1, 3_000_000, 1], [1, 1, 1]],
])('%s', (_, texts, sizes) => {
  expect(sizesOf(texts)).toEqual(sizes)
})
