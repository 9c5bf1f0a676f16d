import { expect, test } from 'vitest'
import { type Difference, isRepairedByReading } from '../../../src/sync/audit/partition-audit.ts'

const window = undefined

test.each<[Difference, { readonly kept: boolean; readonly marked: boolean }]>([
  [
    { kind: 'missing', rows: 1, keys: ['7'], window },
    { kept: true, marked: true },
  ],
  [
    { kind: 'changed', key: '7', cells: [], window },
    { kept: true, marked: true },
  ],
  [
    { kind: 'count', rows: 9000, window },
    { kept: true, marked: true },
  ],
  [
    { kind: 'surplus', rows: 1, keys: ['7'], window },
    { kept: false, marked: true },
  ],
  [
    { kind: 'count', rows: -9000, window },
    { kept: false, marked: true },
  ],
  [
    { kind: 'withheld', rows: 1, window },
    { kept: false, marked: false },
  ],
])('%j is repaired by reading where rows are kept or marked as removed: %j', (difference, { kept, marked }) => {
  expect(isRepairedByReading(difference, { marksRemoved: false })).toBe(kept)
  expect(isRepairedByReading(difference, { marksRemoved: true })).toBe(marked)
})
