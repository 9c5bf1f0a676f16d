import { describe, expect, test } from 'vitest'
import { exactJson } from '../../src/transform/field.ts'

describe('exactJson', () => {
  test('keeps every digit and cleans what Postgres cannot hold, in keys too', () => {
    const value = { id: 9_007_199_254_740_993n, 'a\u0000': ['\u0000x', '\udc00'] }
    expect(exactJson(value)).toBe('{"id":9007199254740993,"a":["x","\ufffd"]}')
  })

  test('keeps a key named __proto__', () => {
    expect(exactJson(JSON.parse('{"__proto__": {"x": 1}}'))).toBe('{"__proto__":{"x":1}}')
  })
})
