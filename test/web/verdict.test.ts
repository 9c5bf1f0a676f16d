import { describe, expect, test } from 'vitest'
import { DAY } from '../../src/core/wall-clock.ts'
import { judge } from '../../src/web/verdict.ts'
import { makeChannel, makeFacts, makeRun, makeUnit, NOW, NOW_MS, THIS_NIGHT } from '../helpers/status-facts.ts'
import type { JobView } from '../../src/web/facts.ts'

const HOUR_MS = 3_600_000

function makeJob(overrides: Partial<JobView>): JobView {
  const nightly = { name: 'nightly', cron: '15 2 * * *', timeZone: 'UTC', next: undefined, isRunning: false } as const
  return { ...nightly, streams: [], channels: 'all', last: undefined, ...overrides }
}

test('a night that is read, proven and fresh is complete until where its least part ends', () => {
  expect(judge(makeFacts())).toMatchObject({
    status: 'complete',
    findings: [],
    completeUntil: THIS_NIGHT,
    isRunning: false,
  })
})

test('while the first run goes on, what is not there yet is no finding to be read', () => {
  const runs = [makeRun({ status: 'running', finishedAt: null, startedAt: new Date(NOW_MS - HOUR_MS) })]
  expect(judge(makeFacts({ runs, units: [] }))).toMatchObject({ status: 'first', isRunning: true })
})

test('what is older than a night and two hours is late, with the channels and since when', () => {
  const units = [makeUnit({ until: NOW - 3 * DAY }), makeUnit({ channelId: '10', until: NOW - 2 * DAY })]
  const facts = makeFacts({ units: [...makeFacts().units.slice(1), ...units] })
  expect(judge(facts).findings).toContainEqual({
    kind: 'late',
    stream: 'watch_records',
    channels: 2,
    since: NOW - 3 * DAY,
  })
})

test('a backfill of old days does not make a stream fresh', () => {
  const [, ...others] = makeFacts().units
  const old = makeUnit({ until: NOW - 2 * DAY, landedAt: new Date(NOW_MS) })
  expect(judge(makeFacts({ units: [old, ...others] })).status).toBe('incomplete')
})

test('an active channel that nothing was read of is found for each stream; gone ones are not', () => {
  const channels = [makeChannel(), makeChannel({ channelId: '10' }), makeChannel({ channelId: '11', state: 'gone' })]
  const found = judge(makeFacts({ channels })).findings
  expect(found).toHaveLength(4)
  expect(found).toContainEqual({ kind: 'unread', stream: 'gifts', channels: 1 })
})

describe('where jobs read some channels only', () => {
  const channels = [
    makeChannel({ group: 'a' }),
    makeChannel({ channelId: '10', group: 'b' }),
    makeChannel({ channelId: '11', group: 'a', state: 'gone' }),
  ]
  const others = ['visitors', 'questionnaires'] as const
  const walks = others.map((stream) => makeUnit({ stream, channelId: '10', isWindowed: false, until: null }))
  const base = makeFacts({ channels, units: [...makeFacts().units, ...walks] })
  const some: readonly (readonly [string, JobView['channels']])[] = [
    ['a group', { group: 'a' }],
    ['a list', ['9']],
  ]
  test.each(some)('%s that is read is complete, whatever is not read of others', (_, chosen) => {
    const jobs = [makeJob({ streams: others }), makeJob({ streams: ['watch_records', 'gifts'], channels: chosen })]
    expect(judge({ ...base, jobs })).toMatchObject({ status: 'complete', completeUntil: THIS_NIGHT })
    const once = makeUnit({ channelId: '10', until: NOW - 9 * DAY })
    expect(judge({ ...base, jobs, units: [...base.units, once] })).toMatchObject({
      completeUntil: THIS_NIGHT,
      findings: [],
    })
  })
  test.each(some)('%s that was never read is found', (_, chosen) => {
    const units = base.units.filter(({ stream }) => stream !== 'gifts')
    const jobs = [makeJob({ streams: ['watch_records', 'gifts'], channels: chosen })]
    expect(judge({ ...base, jobs, units }).findings).toEqual([{ kind: 'unread', stream: 'gifts', channels: 1 }])
  })
  test('what another job reads of the others is expected too', () => {
    const streams = ['watch_records', 'gifts'] as const
    const jobs = [makeJob({ streams, channels: { group: 'a' } }), makeJob({ streams, channels: { group: 'b' } })]
    expect(judge({ ...base, jobs }).findings).toEqual([
      { kind: 'unread', stream: 'watch_records', channels: 1 },
      { kind: 'unread', stream: 'gifts', channels: 1 },
    ])
  })
})
