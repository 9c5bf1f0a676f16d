import { expect, test } from 'vitest'
import { formatAge, formatDuration } from '../../src/cli/ages.ts'

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
