import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDisguise } from '../../../src/cli/capture/disguise.ts'
import { checkProperty } from '../../helpers/check-property.ts'

const key = new Uint8Array(32).fill(7)

test.each([
  ['13812345678', /^100\d{8}$/],
  ['+86 138-1234-5678', /^\+\d\d \d{3}-\d{4}-\d{4}$/],
  ['223.104.5.6', /^198\.1[89]\.\d{1,3}\.\d{1,3}$/],
  ['2408:8409:1abc::5f', /^2001:db8:[0-9a-f]{4}::[0-9a-f]{2}$/],
  ['a85a53de31719f7', /^[0-9a-f]{15}$/],
  ['009', /^0\d\d$/],
  ['Tom 欧阳🍀', /^[A-Z][a-z]{2} \p{Script=Han}{2}[🟦🟩🟥🟨]$/u],
  ['一只𠮷', /^.{2}[\u{20000}-\u{200ff}]$/u],
  ['o1x||B,c\n"d"', /^[a-z]\d[a-z]\|\|[A-Z],[a-z]\n"[a-z]"$/],
])('%s keeps its shape', (value, shape) => {
  const disguise = createDisguise(key)
  expect(disguise(value)).toMatch(shape)
  expect(disguise(value)).not.toBe(value)
})

test('the same value is the same everywhere in a capture, and another one in the next', () => {
  const [one, same, other] = [createDisguise(key), createDisguise(key), createDisguise(new Uint8Array(32).fill(8))]
  expect(one('mkzjnshg')).toBe(one('mkzjnshg'))
  expect(one('mkzjnshg')).toBe(same('mkzjnshg'))
  expect(one('mkzjnshg')).not.toBe(other('mkzjnshg'))
})

test('different ids stay different, and none is its own disguise', () => {
  const disguise = createDisguise(key)
  const ids = Array.from({ length: 900 }, (_, index) => String(100 + index))
  const made = ids.map((id) => disguise(id))
  expect(new Set(made).size).toBeGreaterThan(800)
  expect(made.filter((id, index) => id === ids[index])).toEqual([])
})

test('punctuation that is a pictograph too stays', () => {
  expect(createDisguise(key)('‼〰')).toBe('‼〰')
})

test('any text keeps its length, and what is no letter and no digit', () => {
  const disguise = createDisguise(key)
  checkProperty(
    'a disguise keeps lengths and punctuation',
    fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), (text) => {
      fc.pre(!/^1\d{10}$|^[\d.]+$|:/.test(text))
      const made = disguise(text)
      expect(made).toHaveLength(text.length)
      expect(made.replace(/[^\s\p{P}]/gu, '')).toBe(text.replace(/[^\s\p{P}]/gu, ''))
    }),
  )
})
