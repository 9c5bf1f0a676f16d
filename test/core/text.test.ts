import { expect, test } from 'vitest'
import { exactJson, printable, withoutPhones } from '../../src/core/text.ts'

test('characters that could move the cursor or reverse text on a terminal are escaped as in JSON', () => {
  expect(printable('a\u001b[2Jb\u009bc\u202ed\rе\u0007')).toBe('a\\u001b[2Jb\\u009bc\\u202ed\\u000dе\\u0007')
  expect(printable('张三 👍\tß\n')).toBe('张三 👍\tß\n')
})

test.each([
  ['no user 13800138000 here', 'no user 138******** here'],
  ['"13800138000"', '"138********"'],
  ['+8613800138000, 86 13800138000', '+86138********, 86 138********'],
  ['id 138001380001, 0.13800138000, a13800138000', 'id 138001380001, 0.13800138000, a13800138000'],
])('only phone numbers in %j are masked', (text, masked) => expect(withoutPhones(text)).toBe(masked))

test('exactJson keeps every digit and removes what Postgres cannot store, in keys too', () => {
  const value = { id: 9_007_199_254_740_993n, 'a\u0000': ['\u0000x', '\udc00'] }
  expect(exactJson(value)).toBe('{"id":9007199254740993,"a":["x","\ufffd"]}')
})
