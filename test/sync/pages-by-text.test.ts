import { expect, test } from 'vitest'
import { pagesByText } from '../../src/sync/pages-by-text.ts'
import { signups } from '../../src/streams/signups.ts'
import { visitors } from '../../src/streams/visitors.ts'

const rowsOf = (length: number) => Array.from({ length: 50 }, () => ({ answers: '答'.repeat(length), occurrence: 1 }))

test.each([
  ['light rows leave slices as they are', signups, 200, 50],
  ['heavy ones make them as short as their text asks for', signups, 50_000, 0.8],
  ['no matter how heavy where they are written as they come', visitors, 50_000, 50],
  ['an empty page says nothing', signups, 0, 50],
])('%s', (_, stream, length, pages) => {
  expect(pagesByText(stream, 50, () => rowsOf(length))).toBe(pages)
  expect(pagesByText(stream, 50, () => [])).toBe(50)
})
