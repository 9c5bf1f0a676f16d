import { expect, test } from 'vitest'
import { formatAge, formatDuration, formatTable, leftOf } from '../../src/cli/format.ts'

test('columns are aligned, numbers to the right, Chinese characters two places wide', () => {
  const rows = [
    ['张伟', 1204, '12.50', true],
    ['Anna-Maria', 7, '1,204', null],
    ['👩‍👩‍👧', 12n, '-3', undefined],
  ]
  expect(formatTable(['viewer', 'rows', 'money', 'x'], rows)).toEqual([
    'viewer      rows  money  x',
    '张伟        1204  12.50  true',
    'Anna-Maria     7  1,204',
    '👩‍👩‍👧            12     -3',
  ])
})

test('words beside numbers keep a column to the left', () => {
  expect(formatTable(['id'], [['9'], ['ab'], ['10']])).toEqual(['id', '9', 'ab', '10'])
})

test('line feeds and escape codes cannot break the table', () => {
  expect(formatTable(['a', 'b'], [['x\n\u001b[2Jy', 'z']])).toEqual(['a       b', 'x [2Jy  z'])
})

test('without rows there is the header', () => {
  expect(formatTable(['stream', 'rows'], [])).toEqual(['stream  rows'])
})

test.each([
  [-5, '0 s'],
  [59_400, '59 s'],
  [60_000, '1 min'],
  [26 * 3_600_000, '26 h'],
  [80 * 3_600_000, '3 days'],
])('an age of %d ms is %s', (ms, text) => expect(formatAge(ms)).toBe(text))

test.each([
  [1340, '1.3 s'],
  [250_000, '4 min 10 s'],
  [7_500_000, '2 h 5 min'],
])('%d ms took %s', (ms, text) => expect(formatDuration(ms)).toBe(text))

test('where each channel has its own, those that have used some are named', () => {
  const budget = { serviceDay: '2026-11-20', budget: 10, scope: 'channel' } as const
  expect(leftOf({ ...budget, scopes: [] })).toBe('each channel 10')
  const scopes = [{ scope: 'channel=9', used: 7, left: 3, spentAt: null }]
  expect(leftOf({ ...budget, scopes })).toBe('channel=9 3 of 10, each other channel 10')
})
