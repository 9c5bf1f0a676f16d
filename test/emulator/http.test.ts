import { expect, test } from 'vitest'
import { createPageCache } from '../../src/emulator/http.ts'

test('the pages used least recently give way when the bytes are used up', () => {
  const cache = createPageCache(30)
  for (const key of ['a', 'b', 'c']) cache.set(key, Buffer.alloc(10, key))
  expect(cache.get('a')?.toString()).toBe('a'.repeat(10))
  cache.set('d', Buffer.alloc(10, 'd'))
  expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true, true])
})

test('a page larger than all the bytes is not kept', () => {
  const cache = createPageCache(5)
  cache.set('a', Buffer.alloc(10))
  expect(cache.get('a')).toBeUndefined()
})
