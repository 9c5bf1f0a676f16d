import { describe, expect, test } from 'vitest'
import type { FieldParser } from '../../src/core/column.ts'
import * as values from '../../src/transform/read-item.ts'

const long = 9_007_199_254_740_993n

type Pairs = readonly (readonly [unknown, unknown])[]
type Case = readonly [name: string, parse: FieldParser<unknown>, readable: Pairs, others: readonly unknown[]]

/** What a parser makes of a value, and values that it cannot read. */
const cases: readonly Case[] = [
  [
    'text',
    values.text,
    [
      ['009', '009'],
      [123, '123'],
      [long, '9007199254740993'],
      ['a\u0000b', 'ab'],
      ['\u0000', null],
      ['\ud800x', '\ufffdx'],
      ['👍', '👍'],
    ],
    [true, {}],
  ],
  [
    'integer',
    values.integer,
    [
      [0, 0],
      [-0, 0],
      ['42', 42],
      [-7, -7],
      [2_147_483_647, 2_147_483_647],
    ],
    [2_147_483_648, 1.5, '1.0', ' 1', true],
  ],
  ['smallint', values.smallint, [[32_767, 32_767]], [32_768]],
  [
    'bigint',
    values.bigint,
    [
      [long, '9007199254740993'],
      ['9223372036854775807', '9223372036854775807'],
      ['007', '7'],
    ],
    ['9223372036854775808', 9_007_199_254_740_992, true],
  ],
  [
    'flag',
    values.flag,
    [
      [true, true],
      [0, false],
      ['1', true],
    ],
    ['yes', 2],
  ],
  [
    'ipAddress',
    values.ipAddress,
    [
      ['127.0.0.1', '127.0.0.1'],
      ['2001:db8::1', '2001:db8::1'],
    ],
    ['fe80::1%eth0', '1.2.3.4:80', '1.2.3', 16_909_060],
  ],
  [
    'money',
    values.money,
    [
      ['0.10', '0.10'],
      ['0.1', '0.10'],
      [0.1, '0.10'],
      ['88', '88.00'],
      ['31.00000', '31.00'],
      ['007.5', '7.50'],
      ['-3.20', '-3.20'],
      ['-0.00', '0.00'],
      ['999999999999.99', '999999999999.99'],
    ],
    ['0.125', '1,234.00', '1.', '.5', '1e3', '¥5.00', '1000000000000.00', Number.NaN, 0.1 + 0.2, true, {}, []],
  ],
  [
    'decimal',
    values.decimal,
    [
      [12, '12'],
      ['12.345', '12.345'],
      [0.5, '0.5'],
      [12_345_678_901_234_567_890n, '12345678901234567890'],
    ],
    ['12.5GB', 1e300, Number.POSITIVE_INFINITY, false],
  ],
  [
    'durationText',
    values.durationText,
    [
      ['00:00:00', 0],
      ['00:01:30', 90],
      ['24:00:00', 86_400],
      ['125:03:09', 450_189],
      ['0:00:05', 5],
    ],
    ['00:60:00', '00:00:60', '-00:00:01', '1:2', '1:2:3', ' 00:00:01', '00:00:01.5', '9999999:00:00', 5, true, [], {}],
  ],
  [
    'durationSeconds',
    values.durationSeconds,
    [
      [0, 0],
      ['60', 60],
      ['00:01:00', 60],
    ],
    [-1, 1.5, '00:61:00', 2_147_483_648, 'x'],
  ],
  [
    'pointInTime',
    values.pointInTime,
    [
      ['2018-03-15 15:33', '2018-03-15 15:33:00'],
      ['2017-04-26 13:07:25', '2017-04-26 13:07:25'],
      ['2026-01-02T15:04:05+08:00', '2026-01-02 15:04:05+08:00'],
      ['2026-01-02T15:04:05.123456+0800', '2026-01-02 15:04:05.123456+08:00'],
      ['2026-01-02T15:04:05Z', '2026-01-02 15:04:05+00:00'],
      ['2024-02-29 00:00', '2024-02-29 00:00:00'],
      ['0000-00-00 00:00:00', null],
      ['0000-00-00', null],
      ['0001-01-01 00:00:00', null],
      ['0001-01-01T00:00:00Z', null],
      ['0001-01-01T08:05:43+08:05', null],
    ],
    [
      '2025-02-29 10:00',
      '2026-13-01 00:00',
      '2026-01-01 24:00:00',
      '2026-01-01',
      '01/02/2026 10:00',
      '0000-01-01 00:00',
      '2026-01-01 10:00 +08:00',
      '2026-01-01T10:00:00+16:00',
      1_700_000_000,
      true,
      {},
    ],
  ],
  [
    'calendarDate',
    values.calendarDate,
    [
      ['2021-12-27', '2021-12-27'],
      ['2021-12-27 00:00:00', '2021-12-27'],
      ['0000-00-00', null],
      ['0001-01-01', null],
    ],
    ['2021-12-27 10:00:00', '2021-02-30', '20211227', 20_211_227],
  ],
]

describe.each(cases)('%s', (_name, parse, readable, others) => {
  test.each<readonly [unknown, unknown]>([...readable, ['', null], [null, null], [undefined, null]])(
    'case %#: reads it as it should',
    (raw, value) => {
      expect(parse(raw)).toBe(value)
    },
  )

  test.each(others.map((raw) => [raw]))('case %#: keeps it raw rather than guess', (raw) => {
    expect(parse(raw)).toBeUndefined()
  })
})
