import { isIP } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { unreadable } from '../../src/core/column.ts'
import { exactJson } from '../../src/transform/exact-json.ts'
import { flag } from '../../src/transform/flag.ts'
import { bigint, integer, smallint } from '../../src/transform/integer.ts'
import { ipAddress } from '../../src/transform/ip-address.ts'
import { text } from '../../src/transform/text.ts'
import { checkProperty } from '../helpers/check-property.ts'

describe('text', () => {
  test.each([
    ['009', '009'],
    [123, '123'],
    [9_007_199_254_740_993n, '9007199254740993'],
    ['a\u0000b', 'ab'],
    ['\u0000', null],
    ['\ud800x', '\ufffdx'],
    ['👍', '👍'],
    ['', null],
    [null, null],
    [true, unreadable],
    [{}, unreadable],
  ])('case %#: reads it as it should', (raw, value) => {
    expect(text(raw)).toBe(value)
  })
})

describe('integers', () => {
  test.each([
    [0, 0],
    [-0, 0],
    ['42', 42],
    [-7, -7],
    [2_147_483_647, 2_147_483_647],
    [2_147_483_648, unreadable],
    [1.5, unreadable],
    ['1.0', unreadable],
    [' 1', unreadable],
    [true, unreadable],
    ['', null],
  ])('case %#: integer', (raw, value) => {
    expect(integer(raw)).toBe(value)
  })

  test('smallint has its own bounds', () => {
    expect([smallint(32_767), smallint(32_768)]).toEqual([32_767, unreadable])
  })

  test.each([
    [9_007_199_254_740_993n, '9007199254740993'],
    ['9223372036854775807', '9223372036854775807'],
    ['9223372036854775808', unreadable],
    [9_007_199_254_740_992, unreadable],
    ['007', '7'],
    ['', null],
  ])('case %#: bigint stays exact or is not read', (raw, value) => {
    expect(bigint(raw)).toBe(value)
  })
})

describe('flag', () => {
  test.each([
    [true, true],
    [0, false],
    ['1', true],
    ['', null],
    ['yes', unreadable],
    [2, unreadable],
  ])('case %#', (raw, value) => {
    expect(flag(raw)).toBe(value)
  })
})

describe('ipAddress', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['', null],
    ['fe80::1%eth0', unreadable],
    ['1.2.3.4:80', unreadable],
    ['1.2.3', unreadable],
    [16_909_060, unreadable],
  ])('case %#', (raw, value) => {
    expect(ipAddress(raw)).toBe(value)
  })
})

describe('exactJson', () => {
  test('keeps every digit and cleans what Postgres cannot hold, in keys too', () => {
    const value = { id: 9_007_199_254_740_993n, 'a\u0000': ['\u0000x', '\udc00'] }
    expect(exactJson(value)).toBe('{"id":9007199254740993,"a":["x","\ufffd"]}')
  })

  test('keeps a key named __proto__', () => {
    expect(exactJson(JSON.parse('{"__proto__": {"x": 1}}'))).toBe('{"__proto__":{"x":1}}')
  })

  test('writes numbers that are too long for Postgres as text', () => {
    expect(exactJson([10n ** 200_000n])).toBe(`["1${'0'.repeat(200_000)}"]`)
    expect(exactJson([10n ** 900n])).toBe(`[1${'0'.repeat(900)}]`)
  })
})

test('an address is read exactly where the runtime takes it for one', () => {
  const part = fc.oneof(fc.nat(300).map(String), fc.constantFrom('', '00', '01', '0', '255', '256', 'x', '1 '))
  const address = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.') || '.')
  const law = fc.property(fc.oneof(address, fc.ipV4(), fc.ipV6(), fc.string({ minLength: 1 })), (raw) => {
    expect(ipAddress(raw)).toBe(isIP(raw) !== 0 && !raw.includes('%') ? raw : unreadable)
  })
  checkProperty('addresses', law, { runs: 2000 })
})

test('text keeps everything but U+0000 and lone surrogates, however long it is', () => {
  const unit = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom('\u0000', '\ud800', '\udc00', '\ud83d\udc4d', '\ud7ff', '\ue000'),
  )
  const law = fc.property(fc.array(unit, { maxLength: 90 }), (units) => {
    const raw = units.join('')
    expect(text(raw)).toBe(raw.replaceAll('\u0000', '').toWellFormed() || null)
  })
  checkProperty('texts', law, { runs: 500 })
})
