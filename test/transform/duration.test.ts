import { describe, expect, test } from 'vitest'
import { unreadable } from '../../src/core/column.ts'
import { durationSeconds, durationText } from '../../src/transform/duration.ts'

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
