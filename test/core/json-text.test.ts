import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSameJson, jsonText } from '../../src/core/json-text.ts'

const copyOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const deep = (levels: number): unknown => JSON.parse(`${'{"a":['.repeat(levels)}1${']}'.repeat(levels)}`)

test('a value as text is what JSON.stringify makes of it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(jsonText(value)).toBe(JSON.stringify(value))
    }),
  )
  expect(jsonText([9_007_199_254_740_993n, undefined])).toBe('[9007199254740993,null]')
  expect(jsonText(JSON.parse('{"__proto__":{"a":[]}}'))).toBe('{"__proto__":{"a":[]}}')
})

test('values are the same where their text is, and the order of names does not count', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      expect(isSameJson(a, copyOf(a))).toBe(true)
      expect(isSameJson([a, 1], [b, 1])).toBe(isDeepStrictEqual(copyOf(a), copyOf(b)))
    }),
  )
  expect(isSameJson({ a: 1, b: [{}] }, { b: [{}], a: 1 })).toBe(true)
  for (const [a, b] of [
    [[], {}],
    [{ a: undefined }, {}],
    [{ a: undefined }, { b: undefined }],
    [1, 1n],
    [null, {}],
  ])
    expect(isSameJson(a, b)).toBe(false)
})

test('depth and width are no limit', () => {
  expect(jsonText(Array.from({ length: 300_000 }, () => 1))).toHaveLength(600_001)
  expect(jsonText(deep(100_000))).toHaveLength(800_001)
  expect(isSameJson(deep(100_000), deep(100_000))).toBe(true)
  expect(isSameJson(deep(100_000), deep(100_001))).toBe(false)
})
