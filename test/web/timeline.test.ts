import { expect, test } from 'vitest'
import { DAY } from '../../src/core/wall-clock.ts'
import { type TimelineFacts, timelineOf } from '../../src/web/timeline.ts'
import { makeReading, makeUnit, NOW } from '../helpers/status-facts.ts'

const TODAY = Math.floor(NOW / DAY) * DAY
const base: TimelineFacts = { now: NOW, units: [makeUnit()], open: [], rangeOf: () => ({}) }

/** The states of the last days, today's last. */
function states(facts: Partial<TimelineFacts>, days: number): readonly string[] {
  return Array.from(timelineOf({ ...base, ...facts }).slice(-days), ({ state }) => state)
}

test('the thirty days end today, which has been read in part', () => {
  const days = timelineOf(base)
  expect(days).toHaveLength(30)
  expect(days.at(-1)).toMatchObject({ day: TODAY, state: 'partial' })
  expect(days.slice(0, -1).every(({ state, share }) => state === 'complete' && share === 1)).toBe(true)
})

test('what was read of a channel outside its range does not count for another channel', () => {
  const rangeOf = (channelId: string) => (channelId === '10' ? { until: TODAY - 9 * DAY } : {})
  const units = [makeUnit({ until: TODAY - 2 * DAY }), makeUnit({ channelId: '10', until: TODAY })]
  expect(states({ units, rangeOf }, 3)).toEqual(['partial', 'partial', 'none'])
})

test('gaps, problems and accepted shortfalls show on their days, the worst one of each day', () => {
  const on = (ago: number) => ({ from: TODAY - ago * DAY, to: TODAY - (ago - 1) * DAY })
  const open = [
    makeReading({ kind: 'gap', window: on(4) }),
    makeReading({ kind: 'problem', window: on(3) }),
    makeReading({ kind: 'gap', window: on(3) }),
    makeReading({ kind: 'accepted', window: on(2) }),
  ]
  expect(states({ open }, 5)).toEqual(['gap', 'problem', 'accepted', 'complete', 'partial'])
})

test('of a day that is not over only the failed part is faulty, and the parts of a channel count once', () => {
  const units = ['9', '10'].map((channelId) => makeUnit({ channelId, until: TODAY }))
  const window = { from: TODAY - DAY, to: TODAY + DAY / 8 }
  const open = ['cash', 'prop'].map((type) => makeReading({ partition: `channel=9/type=${type}`, window }))
  const today = timelineOf({ ...base, units, open }).at(-1)
  expect(today).toMatchObject({ state: 'problem', share: 0, faulty: DAY / 8 / (NOW - TODAY) / 2 })
  const gaps = open.map((each) => ({ ...each, kind: 'gap' as const }))
  expect(timelineOf({ ...base, units, open: gaps }).at(-2)).toMatchObject({ state: 'gap', share: 0.5, faulty: 0.5 })
})

test('a stream that is read in only some channels has their share, and is complete on no day', () => {
  expect(timelineOf({ ...base, outOf: 4 }).at(-2)).toMatchObject({ share: 0.25, state: 'partial' })
  const others = Array.from({ length: 2000 }, (_, id) => makeUnit({ channelId: `${id}` }))
  expect(states({ units: [makeUnit({ channelId: 'late', until: TODAY - DAY }), ...others] }, 2)[0]).toBe('partial')
})
