import { expect, test } from 'vitest'
import { formatWallTime } from '../../src/core/wall-clock.ts'
import { wireDuration, wireInteger, wireMinute, wireSecond } from '../../src/emulator/wire.ts'

test('every day of four centuries is written as the calendar has it', () => {
  const wrong: string[] = []
  for (let day = 0; day < 150_000; day += 1) {
    const time = day * 86_400 + ((day * 7919) % 86_400)
    if (wireSecond(time) !== formatWallTime(time)) wrong.push(formatWallTime(time))
  }
  expect(wrong).toEqual([])
})

test.each([
  [0, '00:00:00'],
  [59, '00:00:59'],
  [86_400, '24:00:00'],
  [450_189, '125:03:09'],
])('%i seconds are %s', (seconds, text) => {
  expect(wireDuration(seconds)).toBe(text)
})

test('watch records show minutes', () => {
  expect(wireMinute(59)).toBe('1970-01-01 00:00')
})

test('ids keep their digits', () => {
  expect(JSON.stringify(['1', '9007199254740991', '9007199254740993'].map(wireInteger))).toBe(
    '[1,9007199254740991,9007199254740993]',
  )
})
