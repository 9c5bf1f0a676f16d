import { assert, jsonValue, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseExact } from '../../src/service/json.ts'

describe('numbers keep every digit', () => {
  test.each<[string, unknown]>([
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['-12345678901234567890', -12345678901234567890n],
    ['123456789012345', 123456789012345],
    ['0.1', 0.1],
    ['0.30000000000000004', 0.30000000000000004],
    ['0.1000000000000000055', '0.1000000000000000055'],
    ['12345678901.123456789', '12345678901.123456789'],
    ['1.50000000000000000000', 1.5],
    ['1e400', '1e400'],
    ['1e-400', '1e-400'],
    ['0e400', 0],
    ['0.0000000000000000000', 0],
  ])('%s', (source, value) => {
    expect(parseExact(`{"a":[${source}]}`)).toEqual({ a: [value] })
  })

  test.each(['9007199254740993', '-9007199254740993', '1e400', '-1.5E+400'])(
    '%s is found behind everything that a number may stand behind',
    (source) => {
      const found = source.includes('9') ? BigInt(source) : source
      for (const space of ['', ' ', '\n', '\r', '\t']) {
        for (const prefix of ['', '[', '[0,', '{"a":', '["a",']) {
          const end = prefix.startsWith('[') ? ']' : prefix === '' ? '' : '}'
          const parsed = parseExact(`${space}${prefix}${space}${source}${end}`)
          expect(prefix === '' ? parsed : Object.values(Object(parsed)).at(-1)).toBe(found)
        }
      }
    },
  )

  test('any other JSON reads as the plain parser reads it', () => {
    assert(
      property(jsonValue(), (value) => {
        const text = JSON.stringify(value)
        // A long number beside it forces the slower way.
        const parsed = parseExact(`[1234567890123456789,${text}]`)
        expect(JSON.stringify(parsed, roundBigints)).toBe(JSON.stringify([1234567890123456789n, value], roundBigints))
      }),
    )
  })
})

function roundBigints(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}

test.each(['', ',"n":12345678901234567890'])('a __proto__ key is a key like any other%s', (more) => {
  const parsed = parseExact(`{"__proto__":{"isAdmin":true}${more}}`)
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
  expect(Object.keys(Object(parsed))).toContain('__proto__')
  expect(Reflect.get({}, 'isAdmin')).toBeUndefined()
})
