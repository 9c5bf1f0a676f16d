import { expect, test } from 'vitest'
import { formatDuration, formatTable } from '../../src/cli/format.ts'

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

test('a duration is rounded before its unit is chosen', () => {
  expect([59_949, 59_960, -3_594_300].map(formatDuration)).toEqual(['59.9 s', '1 min 0 s', '0.0 s'])
})

test('text among numbers aligns a column to the left, and line feeds and escape codes cannot break a table', () => {
  expect(formatTable(['id'], [['9'], ['ab'], ['10']])).toEqual(['id', '9', 'ab', '10'])
  expect(formatTable(['a', 'b'], [['x\n\u001b[2Jy', 'z']])).toEqual(['a       b', 'x [2Jy  z'])
})
