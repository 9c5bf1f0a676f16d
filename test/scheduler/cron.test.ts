import { expect, test } from 'vitest'
import { findCronProblem, parseCron } from '../../src/scheduler/cron.ts'
import { formatWallMinute, parseWallTime } from '../../src/core/wall-clock.ts'

test.each([
  ['15 2 * * *', '2026-11-20 02:15', '2026-11-21 02:15'],
  ['*/15 * * * *', '2026-11-20 23:50', '2026-11-21'],
  ['0 6 * * MON', '2026-11-20', '2026-11-23 06:00'],
  ['0 0 L * *', '2026-02-10', '2026-02-28'],
  ['0 0 29 2 *', '2026-01-01', '2028-02-29'],
  ['@daily', '2026-11-20', '2026-11-21'],
  ['30 4 1,15 * 5', '2026-11-20', '2027-01-01 04:30'],
])('%s: after %s it is due at %s', (cron, after, next) => {
  expect(formatWallMinute(parseCron(cron).next(parseWallTime(after) ?? 0) ?? 0)).toBe(next)
})

test.each([
  ['61 * * * *', 'its minute "61" is not possible'],
  ['0 24 * * *', 'its hour "24" is not possible'],
  ['0 0 30 2 *', 'its day of month "30" is not possible'],
  ['0 0 * * MOO', 'its day of week "MOO" is not possible'],
  ['0 0 L-30 2 *', 'it is never due'],
  ['15 2 * *', 'it has 4 fields instead of five'],
  ['0 15 2 * * *', 'it has 6 fields instead of five'],
  ['', 'it has 1 fields instead of five'],
  ['@nightly', 'pattern includes illegal characters'],
  ['15 2 * * *', undefined],
  ['  15  2 * * * ', undefined],
])('what is wrong with %j: %s', (cron, problem) => {
  expect(findCronProblem(cron)).toBe(problem)
})
