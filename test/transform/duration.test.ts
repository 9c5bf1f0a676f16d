import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { unreadable } from '../../src/core/column.ts'
import { durationSeconds, durationText } from '../../src/transform/duration.ts'
import { checkProperty } from '../helpers/check-property.ts'

describe('durationText', () => {
  test.each([
    ['00:00:00', 0],
    ['00:01:30', 90],
    ['24:00:00', 86_400],
    ['125:03:09', 450_189],
    ['0:00:05', 5],
    ['', null],
    [null, null],
    [undefined, null],
  ])('reads %j as %j', (raw, seconds) => {
    expect(durationText(raw)).toBe(seconds)
  })

  test.each([
    '00:60:00',
    '00:00:60',
    '-00:00:01',
    '1:2',
    '01:02',
    '1:2:3',
    ' 00:00:01',
    '00:00:01.5',
    '9999999:00:00',
    5,
    true,
    [],
    {},
  ])('cannot read %j', (raw) => {
    expect(durationText(raw)).toBe(unreadable)
  })
})

test('a duration is read exactly where it has the pattern', () => {
  const digits = fc.stringMatching(/^[0-9]{0,3}$/)
  const likely = fc.tuple(digits, digits, digits).map((parts) => parts.join(':'))
  const law = fc.property(fc.oneof(likely, fc.stringMatching(/^[0-9:.x/]{8}$/)), (raw) => {
    const parts = /^(\d{1,7}):([0-5]\d):([0-5]\d)$/.exec(raw)
    const seconds = parts ? Number(parts[1]) * 3600 + Number(parts[2]) * 60 + Number(parts[3]) : unreadable
    expect(durationText(raw)).toBe(seconds)
  })
  checkProperty('durations', law, { runs: 3000 })
})

describe('durationSeconds', () => {
  test.each([
    [0, 0],
    ['60', 60],
    ['00:01:00', 60],
    ['', null],
  ])('reads %j as %j', (raw, seconds) => {
    expect(durationSeconds(raw)).toBe(seconds)
  })

  test.each([-1, 1.5, '00:61:00', 2_147_483_648, 'x'])('cannot read %j', (raw) => {
    expect(durationSeconds(raw)).toBe(unreadable)
  })
})
