import { expect, test } from 'vitest'
import { formatWallMinute, formatWallTime, parseWallTime } from '../../src/core/wall-clock.ts'
import { findCronProblem, openTimetable, parseCron, type Tick } from '../../src/scheduler/timetable.ts'

function ticksBetween(cron: string, timeZone: string, from: string, to: string): Tick[] {
  const timetable = openTimetable(cron, timeZone)
  const ticks: Tick[] = []
  let tick = timetable.next(Date.parse(from))
  while (tick && tick.dueAtMs <= Date.parse(to)) {
    ticks.push(tick)
    tick = timetable.next(tick.dueAtMs)
  }
  return ticks
}

function describe({ localTime, isRepeat, dueAtMs }: Tick): string {
  return `${formatWallTime(localTime).slice(5, 16)}${isRepeat ? ' again' : ''} = ${new Date(dueAtMs).toISOString().slice(11, 16)}Z`
}

const changes = [
  ['Europe/Berlin', '30 2 * * *', '2026-03-28T12:00Z', ['03-29 02:30 = 01:00Z', '03-30 02:30 = 00:30Z']],
  ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00Z', ['10-25 02:30 = 00:30Z', '10-26 02:30 = 01:30Z']],
  ['Australia/Lord_Howe', '15 2 * * *', '2026-10-03T12:00Z', ['10-04 02:15 = 15:30Z', '10-05 02:15 = 15:15Z']],
  ['Australia/Lord_Howe', '45 1 * * *', '2026-04-04T12:00Z', ['04-05 01:45 = 14:45Z', '04-06 01:45 = 15:15Z']],
  [
    'Pacific/Apia',
    '15 2 * * *',
    '2011-12-29T12:00Z',
    ['12-29 02:15 = 12:15Z', '12-30 02:15 = 10:00Z', '12-31 02:15 = 12:15Z', '01-01 02:15 = 12:15Z'],
  ],
  ['America/Asuncion', '30 23 * * *', '2024-03-23T12:00Z', ['03-23 23:30 = 02:30Z', '03-24 23:30 = 03:30Z']],
  ['Europe/Berlin', '30 * * * *', '2026-10-25T00:00Z', ['10-25 02:30 = 00:30Z', '10-25 02:30 again = 01:30Z']],
  ['Africa/Cairo', '@daily', '2026-04-23T12:00Z', ['04-24 00:00 = 22:00Z', '04-25 00:00 = 21:00Z']],
] as const

test.each(changes)('clocks change in %s: %s after %s', (timeZone, cron, from, expected) => {
  const until = new Date(Date.parse(from) + expected.length * 86_400_000).toISOString()
  expect(ticksBetween(cron, timeZone, from, until).slice(0, expected.length).map(describe)).toEqual(expected)
})

test('the last of many missed times is found, however long ago it was', () => {
  const now = Date.parse('2026-11-20T06:00Z')
  const last = (cron: string, after: string) => {
    const tick = openTimetable(cron, 'Asia/Shanghai').last(Date.parse(after), now)
    return tick && describe(tick)
  }
  expect(last('*/15 * * * *', '2020-01-01T00:00Z')).toBe('11-20 14:00 = 06:00Z')
  expect(last('0 0 29 2 *', '2020-01-01T00:00Z')).toBe('02-29 00:00 = 16:00Z')
  expect(last('15 2 * * *', '2026-11-19T18:15Z')).toBeUndefined()
})

test.each([
  ['0 0 L * *', '2026-02-10', '2026-02-28'],
  ['30 4 1,15 * 5', '2026-11-20', '2027-01-01 04:30'],
])('%s, after %s, is due at %s', (cron, after, next) => {
  expect(formatWallMinute(parseCron(cron).next(parseWallTime(after) ?? 0) ?? 0)).toBe(next)
})

test.each([
  ['0 0 30 2 *', 'its day of month "30" is not possible'],
  ['0 0 L-30 2 *', 'it is never due'],
  ['0 15 2 * * *', 'it has 6 fields instead of five'],
  ['@nightly', 'pattern includes illegal characters'],
  ['  15  2 * * * ', undefined],
])('the problem with %j: %s', (cron, problem) => {
  expect(findCronProblem(cron)).toBe(problem)
})
