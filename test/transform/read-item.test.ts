import { expect, test } from 'vitest'
import { allStreams } from '../../src/streams/registry.ts'
import * as values from '../../src/transform/read-item.ts'

const parsers = { ...values }
const long = 9_007_199_254_740_993n

type Helper = 'fieldNames' | 'identifier' | 'itemReader' | 'kindOf' | 'quote' | 'rejection' | 'withRaw'
type Name = Exclude<keyof typeof values, Helper>

test.each<[Name, unknown, unknown]>([
  ['text', '009', '009'],
  ['text', long, '9007199254740993'],
  ['text', 'a\u0000b', 'ab'],
  ['text', '\u0000', null],
  ['text', '\ud800x', '\ufffdx'],
  ['integer', -0, 0],
  ['integer', '42', 42],
  ['integer', 2_147_483_647, 2_147_483_647],
  ['smallint', 32_767, 32_767],
  ['bigint', long, '9007199254740993'],
  ['bigint', '9223372036854775807', '9223372036854775807'],
  ['bigint', '007', '7'],
  ['flag', true, true],
  ['flag', 0, false],
  ['flag', '1', true],
  ['ipAddress', '127.0.0.1', '127.0.0.1'],
  ['ipAddress', '2001:db8::1', '2001:db8::1'],
  ['money', '0.1', '0.10'],
  ['money', 0.1, '0.10'],
  ['money', '31.00000', '31.00'],
  ['money', '007.5', '7.50'],
  ['money', '-3.20', '-3.20'],
  ['money', '-0.00', '0.00'],
  ['money', '999999999999.99', '999999999999.99'],
  ['decimal', '12.345', '12.345'],
  ['decimal', 0.5, '0.5'],
  ['decimal', 12_345_678_901_234_567_890n, '12345678901234567890'],
  ['durationText', '00:00:00', 0],
  ['durationText', '24:00:00', 86_400],
  ['durationText', '125:03:09', 450_189],
  ['durationText', '0:00:05', 5],
  ['durationSeconds', '60', 60],
  ['durationSeconds', '00:01:00', 60],
  ['pointInTime', '2018-03-15 15:33', '2018-03-15 15:33:00'],
  ['pointInTime', '2024-02-29 23:59:59', '2024-02-29 23:59:59'],
  ['pointInTime', '2024-02-29T23:59:59', '2024-02-29 23:59:59'],
  ['pointInTime', '2026-01-02T15:04:05+08:00', '2026-01-02 15:04:05+08:00'],
  ['pointInTime', '2026-01-02T15:04:05.123456+0800', '2026-01-02 15:04:05.123456+08:00'],
  ['pointInTime', '2026-01-02T15:04:05Z', '2026-01-02 15:04:05+00:00'],
  ['pointInTime', '0000-00-00 00:00:00', null],
  ['pointInTime', '0000-00-00', null],
  ['pointInTime', '0001-01-01 00:00:00', null],
  ['pointInTime', '0001-01-01T00:00:00Z', null],
  ['pointInTime', '0001-01-01T08:05:43+08:05', null],
  ['calendarDate', '2021-12-27', '2021-12-27'],
  ['calendarDate', '2021-12-27 00:00:00', '2021-12-27'],
  ['calendarDate', '0000-00-00', null],
  ['calendarDate', '0001-01-01', null],
])('%s reads %o as %o', (name, raw, value) => {
  expect(parsers[name](raw)).toBe(value)
})

test.each<[Name, readonly unknown[]]>([
  ['text', [true, {}]],
  ['integer', [2_147_483_648, 1.5, '1.0', ' 1', true]],
  ['smallint', [32_768]],
  ['bigint', ['9223372036854775808', 9_007_199_254_740_992, true]],
  ['flag', ['yes', 2]],
  ['ipAddress', ['fe80::1%eth0', '1.2.3.4:80', '1.2.3', 16_909_060]],
  ['money', ['0.125', '1,234.00', '1.', '.5', '1e3', '¥5.00', '1000000000000.00', Number.NaN, 0.1 + 0.2, true, {}, []]],
  ['decimal', ['12.5GB', 1e300, Number.POSITIVE_INFINITY, false]],
  [
    'durationText',
    ['00:60:00', '00:00:60', '-00:00:01', '1:2', '1:2:3', ' 00:00:01', '00:00:01.5', '9999999:00:00', 5, true, [], {}],
  ],
  ['durationSeconds', [-1, 1.5, '00:61:00', 2_147_483_648, 'x']],
  // Dates, times of day and offsets that do not exist; other notations; other types.
  ['pointInTime', ['2025-02-29 10:00', '2026-13-01 00:00', '0000-01-01 00:00']],
  ['pointInTime', ['2026-01-01 24:00:00', '2026-01-01 10:60', '2026-01-01 14:03:60', '2026-01-01T10:00:00+16:00']],
  ['pointInTime', ['2026-01-01 14', '2026-1-2 14:00', '2026-01-01', '01/02/2026 10:00', '2026-01-01 10:00 +08:00']],
  ['pointInTime', [1_700_000_000, true, {}]],
  ['calendarDate', ['2021-12-27 10:00:00', '2021-02-30', '20211227', 20_211_227]],
])('%s reads empty and missing values as null, and those that it cannot read as undefined', (name, others) => {
  for (const raw of ['', null, undefined]) expect(parsers[name](raw)).toBeNull()
  for (const raw of others) expect(parsers[name](raw), String(raw)).toBeUndefined()
})

test.each([
  ['signups', { nickname: '张三' }, 'the row is an object, not an array of cells'],
  ['gifts', ['张三'], 'the item is an array, not an object'],
  ['visitors', null, 'the item is null, not an object'],
])('the reason why an item of %s is rejected has no personal data, because it is logged', (name, item, reason) => {
  const stream = allStreams.find((each) => each.name === name)
  const read = stream && values.itemReader(stream, { partition: {}, serviceDay: '2026-11-20' })
  expect(read?.(item, { title: ['a', 'b', 'c', 'd'] })).toMatchObject({ kind: 'rejected', reason })
})
