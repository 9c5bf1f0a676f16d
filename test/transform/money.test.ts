import { describe, expect, test } from 'vitest'
import { unreadable } from '../../src/core/column.ts'
import { decimal, money } from '../../src/transform/money.ts'

describe('money', () => {
  test.each([
    ['0.10', '0.10'],
    ['0.1', '0.10'],
    [0.1, '0.10'],
    ['88', '88.00'],
    ['007.5', '7.50'],
    ['-3.20', '-3.20'],
    ['-0.00', '0.00'],
    ['999999999999.99', '999999999999.99'],
    ['', null],
    [null, null],
  ])('reads %j as %j', (raw, amount) => {
    expect(money(raw)).toBe(amount)
  })

  test.each(['0.125', '1,234.00', '1.', '.5', '1e3', '¥5.00', '1000000000000.00', Number.NaN, 0.1 + 0.2, true, {}, []])(
    'keeps %j raw rather than guess',
    (raw) => {
      expect(money(raw)).toBe(unreadable)
    },
  )
})

describe('decimal', () => {
  test.each([
    [12, '12'],
    ['12.345', '12.345'],
    [0.5, '0.5'],
    [12_345_678_901_234_567_890n, '12345678901234567890'],
    ['', null],
  ])('case %#: reads it', (raw, value) => {
    expect(decimal(raw)).toBe(value)
  })

  test.each(['12.5GB', 1e300, Number.POSITIVE_INFINITY, false])('cannot read %j', (raw) => {
    expect(decimal(raw)).toBe(unreadable)
  })
})
