import { describe, expect, test } from 'vitest'
import { DAY, parseWallTime } from '../../src/core/wall-clock.ts'
import { restingApart, subtractWindow } from '../../src/sync/plan-windows.ts'
import { watchRecords } from '../../src/streams/watch-records.ts'
import { watchRecordsV1 } from '../../src/streams/watch-records-v1.ts'

test.each<[string, readonly [number, number], readonly (readonly [number, number])[]]>([
  ['before', [0, 10], [[20, 30]]],
  ['after', [40, 50], [[20, 30]]],
  ['touching', [10, 20], [[20, 30]]],
  ['over the start', [10, 25], [[25, 30]]],
  ['over the end', [25, 40], [[20, 25]]],
  [
    'inside',
    [23, 25],
    [
      [20, 23],
      [25, 30],
    ],
  ],
  ['all of it', [20, 30], []],
  ['more than it', [0, 50], []],
])('a window without another that lies %s', (_where, [from, to], left) => {
  expect(subtractWindow({ from: 20, to: 30 }, { from, to })).toEqual(
    left.map(([start, end]) => ({ from: start, to: end })),
  )
})

describe('what may be read over several days', () => {
  const now = parseWallTime('2026-11-20 14:30:59') ?? 0
  const moves = parseWallTime('2026-11-17 14:30') ?? 0

  test('is cut where rows no longer change, the part that changes first', () => {
    const window = { from: moves - 31 * DAY, to: moves + 2 * DAY }
    expect(restingApart(window, watchRecordsV1, now)).toEqual([
      { from: moves, to: window.to },
      { from: window.from, to: moves },
    ])
    expect(restingApart(window, watchRecords, now)).toEqual([window])
  })

  test('is left whole where nothing of it changes, or little of it rests', () => {
    const old = { from: moves - 90 * DAY, to: moves - 80 * DAY }
    const young = { from: moves - 29 * DAY, to: moves + 2 * DAY }
    expect(restingApart(old, watchRecordsV1, now)).toEqual([old])
    expect(restingApart(young, watchRecordsV1, now)).toEqual([young])
  })
})
