import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDisguise, disguiseBody, parseAsWritten } from '../../../src/app/capture/disguise.ts'

const key = new Uint8Array(32).fill(7)

test.each([
  ['13812345678', /^100\d{8}$/],
  ['+86 138-1234-5678', /^字\d\d \d{3}-\d{4}-\d{4}$/],
  ['223.104.5.6', /^198\.18\.\d{1,3}\.\d{1,3}$/],
  ['2408:8409:1abc::5f', /^2001:db8::[0-9a-f]{4}$/],
  ['009', /^0\d\d$/],
  ['Tom 欧阳🍀', /^[A-Z][a-z]{2} 字字🟦$/u],
  ['o1x||B,c\n"d"', /^[a-z]\d[a-z]字字[A-Z],[a-z]\n"[a-z]"$/],
])('%s keeps its shape', (value, shape) => {
  const disguise = createDisguise(key)
  expect(disguise(value)).toMatch(shape)
  expect(disguise(value)).not.toBe(value)
})

test('a value has the same disguise throughout a capture, and another one in the next capture', () => {
  const [one, same, other] = [createDisguise(key), createDisguise(key), createDisguise(new Uint8Array(32).fill(8))]
  expect(one('mkzjnshg')).toBe(one('mkzjnshg'))
  expect(one('mkzjnshg')).toBe(same('mkzjnshg'))
  expect(one('mkzjnshg')).not.toBe(other('mkzjnshg'))
})

test('a text keeps its length, white space and punctuation', () => {
  const disguise = createDisguise(key)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), (text) => {
      fc.pre(!/^1\d{10}$|^[\d.]+$|:/.test(text))
      const disguised = disguise(text)
      expect(disguised).toHaveLength(text.length)
      expect(disguised.replace(/[^\s\p{P}]/gu, '')).toBe(text.replace(/[^\s\p{P}]/gu, ''))
    }),
  )
})

/** The body with X for each disguised text, and 9 for each disguised digit. */
function showDisguises(json: string): string {
  return JSON.stringify(
    disguiseBody(parseAsWritten(json), (value) => (/^\d+$/.test(value) ? '9'.repeat(value.length) : 'X')),
  )
}

test.each([
  // Numbers keep their digits as written, however many.
  ['[{"record_id":9007199254740993,"id":10001589}]', '[{"record_id":9999999999999999,"id":99999999}]'],
  [
    '{"total_num":"12","page":{"p":1,"perPage":"20"},"results":[{"money":"0.10","x":0.10}]}',
    '{"total_num":"12","page":{"p":1,"perPage":"20"},"results":[{"money":"X","x":9.99}]}',
  ],
  // Flags stay. All other text may be personal, and so may field names that may be names of people.
  ['[{"status":true,"outer_id":null,"name":"","is_a":1}]', '[{"status":true,"outer_id":null,"name":"","is_a":1}]'],
  ['{"email":"a@b.cn","deep":[{"tags":["vip"]}],"王伟":1}', '{"email":"X","deep":[{"tags":["X"]}],"X":1}'],
  ['{"results":[{"wang_wei":{"wang_wei":1},"u13800138000":1}]}', '{"results":[{"wang_wei":{"X":1},"X":1}]}'],
  // Within an item, field names of the answer itself may have any meaning.
  [
    '{"errcode":1000,"msg":"ok","results":[{"msg":"hi","message":"hi","code":10001589,"size":12}]}',
    '{"errcode":1000,"msg":"ok","results":[{"msg":"X","message":"X","code":99999999,"size":99}]}',
  ],
  // The service's own messages stay, but not the ids in them.
  ['{"errors":{"code":404002,"message":"No such 1000158"}}', '{"errors":{"code":404002,"message":"No such 9999999"}}'],
  ['{"title":["用户ID"],"data":[["u1","王伟","","1990-05-01"]]}', '{"title":["X"],"data":[["X","X","","X"]]}'],
  ['"王伟"', '"X"'],
])('disguises %s', (json, expected) => {
  expect(showDisguises(json)).toBe(expected)
})
