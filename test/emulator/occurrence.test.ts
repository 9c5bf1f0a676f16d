import { expect, test } from 'vitest'
import { numberOccurrences } from '../../src/emulator/occurrence.ts'

test('equal rows are numbered in the order of their remaining values, null first, whatever order they came in', () => {
  const rows = [
    { key: 'a', phone: '139' },
    { key: 'b', phone: '1' },
    { key: 'a', phone: null },
    { key: 'a', phone: '138' },
  ]
  for (const input of [rows, rows.toReversed()]) {
    const numbered = numberOccurrences(
      input,
      (row) => [row.key],
      (row) => [row.phone],
    )
    expect(numbered.map(({ key, phone, occurrence }) => `${key}${occurrence}:${phone}`).toSorted()).toEqual([
      'a1:null',
      'a2:138',
      'a3:139',
      'b1:1',
    ])
  }
})
