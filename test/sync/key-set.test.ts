import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createKeySet } from '../../src/sync/key-set.ts'
import { checkProperty } from '../helpers/check-property.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

describe('a set of keys', () => {
  test('says of each key whether it is new, like a set of texts', () => {
    const law = fc.property(fc.array(fc.oneof(fc.string(), fc.nat(50).map(String))), fc.nat(40), (keys, announced) => {
      const keySet = createKeySet()
      const texts = new Set<string>()
      keySet.reserve(announced)
      for (const key of keys) {
        expect(keySet.has(key)).toBe(texts.has(key))
        expect(keySet.add(key)).toBe(!texts.has(key))
        texts.add(key)
      }
      for (const key of keys) expect(keySet.has(key)).toBe(true)
    })
    checkProperty('keys', law, { runs: 300 })
  })

  test.each<[string, (index: number) => string]>([
    ['numbers in a row', (index) => String(100_000_000 + index)],
    ['ids of one length that end alike', (index) => `${index.toString(36).padStart(6, '0')}_9Yx7hMZOPfL`],
    ['two numbers', (index) => (index * 65_537).toString(16) + (16_777_216 + index).toString(16)],
  ])('tells 200,000 keys apart, also where they differ little: %s', (_name, keyOf) => {
    const keys = createKeySet()
    let seen = 0
    for (let index = 0; index < 200_000; index += 1) if (!keys.add(keyOf(index))) seen += 1
    expect(seen).toBe(0)
    expect(keys.has(keyOf(199_999))).toBe(true)
    expect(keys.has(keyOf(200_000))).toBe(false)
  })

  test('takes little room: announced keys take ten bytes each, and an announcement is not believed beyond all measure', () => {
    // What earlier tests have left must not go in between.
    collectGarbage()
    const before = process.memoryUsage().arrayBuffers
    const sets = [1_000_000, Number.MAX_SAFE_INTEGER].map((announced) => {
      const keys = createKeySet()
      keys.reserve(announced)
      return keys
    })
    const bytes = process.memoryUsage().arrayBuffers - before
    expect(bytes).toBeGreaterThan(8_000_000)
    expect(bytes).toBeLessThan(50_000_000)
    expect(sets.every((keys) => keys.add('one'))).toBe(true)
  })
})
