import { expect, test } from 'vitest'
import { judgeHealth, summarizeProgress } from '../../src/app/judge-health.ts'
import { DAY } from '../../src/core/wall-clock.ts'
import type { Facts, JobView } from '../../src/web/facts.ts'
import { makeChannel, makeFacts, makeReading, makeRun, makeUnit, NOW, THIS_NIGHT } from '../helpers/status-facts.ts'

function makeJob(overrides: Partial<JobView>): JobView {
  const nightly = { name: 'nightly', cron: '15 2 * * *', timeZone: 'UTC', next: undefined } as const
  return { ...nightly, streams: [], channels: 'all', last: undefined, ...overrides }
}

const judge = (facts: Facts) => judgeHealth(facts).verdict

/** Until when the data is complete, as the head of the page says. */
function completeUntil(facts: Facts): number | undefined {
  return summarizeProgress(judgeHealth(facts).judged).until
}

test('a proven and recent night is complete until its end, unless the only run was interrupted or waits', () => {
  const facts = makeFacts()
  expect(judge(facts)).toMatchObject({ status: 'complete', findings: [], isRunning: false })
  expect(completeUntil(facts)).toBe(THIS_NIGHT)
  for (const status of ['interrupted', 'waiting'] as const)
    expect(judge({ ...facts, runs: [makeRun({ status })] }).status).toBe('first')
})

test('a stream read last night that ends days ago is late; the finding names its channels and since when', () => {
  const units = [makeUnit({ until: NOW - 3 * DAY }), makeUnit({ channelId: '10', until: NOW - 2 * DAY })]
  const facts = makeFacts({ units: [...makeFacts().units.slice(1), ...units] })
  const late = { kind: 'late', streams: ['watch_records'], channels: ['9', '10'], since: NOW - 3 * DAY }
  expect(judge(facts).findings).toContainEqual(late)
})

test('each fault is reported once: the worst one of a channel, and one finding for all streams that share it', () => {
  const open = [makeReading(), makeReading({ stream: 'gifts' })]
  const behind = { until: NOW - 3 * DAY, gaps: 2 }
  const units = [makeUnit(behind), makeUnit({ channelId: '10' }), makeUnit({ stream: 'gifts', ...behind })]
  const facts = makeFacts({ open, units, channels: [makeChannel(), makeChannel({ channelId: '10' })] })
  const [first, ...others] = judge(facts).findings
  expect(first).toMatchObject({ kind: 'problem', streams: ['watch_records', 'gifts'], channels: ['9'] })
  expect(others.map(({ kind }) => kind)).toEqual(['unread'])
  expect(judge({ ...facts, units: units.toReversed() }).findings[0]).toEqual(first)
  const own = facts.judged.filter(({ stream }) => stream === 'watch_records')
  expect(summarizeProgress(own)).toEqual({ until: THIS_NIGHT, all: 2, behind: ['9'] })
  // A run that failed as a whole is reported only if no finding reports it.
  const failed = [makeRun({ runId: '8', command: 'quarantine retry' }), makeRun({ status: 'failed' })]
  const cause = { kind: 'run', name: 'sync', runId: '7', status: 'failed', problems: [] } as const
  expect(judge({ ...facts, runs: failed, causes: [cause] }).failedRun).toBeUndefined()
  expect(judge(makeFacts({ runs: failed, causes: [cause] })).failedRun).toMatchObject({ runId: '7' })
  // As in alerts, the causes decide: neither a later run nor a cause of another command does.
  expect(judge(makeFacts({ runs: failed, causes: [{ ...cause, runId: '6' }] })).failedRun).toMatchObject({ runId: '6' })
  expect(judge(makeFacts({ runs: failed, causes: [{ ...cause, name: 'audit' }] })).failedRun).toBeUndefined()
})

test('an active channel that was never read is reported per stream, signups only if it has a questionnaire', () => {
  const channels = [makeChannel(), makeChannel({ channelId: '10' }), makeChannel({ channelId: '11', state: 'gone' })]
  const units = [...makeFacts().units, makeUnit({ stream: 'signups' })]
  const { findings } = judge(makeFacts({ channels, units, questions: new Map([['10', ['q1']]]) }))
  const streams = ['visitors', 'watch_records', 'gifts', 'questionnaires', 'signups']
  expect(findings).toEqual([{ kind: 'unread', streams, channels: ['10'], since: null }])
})

const channels = [
  makeChannel({ group: 'a' }),
  makeChannel({ channelId: '10', group: 'b' }),
  makeChannel({ channelId: '11', group: 'a', state: 'gone' }),
]
const others = ['visitors', 'questionnaires'] as const
const walks = others.map((stream) => makeUnit({ stream, channelId: '10', isWindowed: false, until: null }))
const base = makeFacts({ channels, units: [...makeFacts().units, ...walks] })
const selections: readonly (readonly [string, JobView['channels']])[] = [
  ['a group', { group: 'a' }],
  ['a list', ['9']],
]
test.each(selections)('if jobs read only some channels, %s that was read is complete without the rest', (_, chosen) => {
  const jobs = [makeJob({ streams: others }), makeJob({ streams: ['watch_records', 'gifts'], channels: chosen })]
  expect(judge({ ...base, jobs }).status).toBe('complete')
  expect(completeUntil({ ...base, jobs })).toBe(THIS_NIGHT)
  const old = makeUnit({ channelId: '10', until: NOW - 9 * DAY, lastLandedAt: new Date(0) })
  const withOldUnit = { ...base, jobs, units: [...base.units, old] }
  expect(judge(withOldUnit).findings).toEqual([])
  expect(judgeHealth(withOldUnit).streams.map(({ stalest }) => stalest?.lastLandedAt)).not.toContainEqual(new Date(0))
  expect(completeUntil(withOldUnit)).toBe(THIS_NIGHT)
})
test.each(selections)('if jobs read only some channels, %s that was never read is reported', (_, chosen) => {
  const units = base.units.filter(({ stream }) => stream !== 'gifts')
  const jobs = [makeJob({ streams: ['watch_records', 'gifts'], channels: chosen })]
  expect(judge({ ...base, jobs, units }).findings).toEqual([
    { kind: 'unread', streams: ['gifts'], channels: ['9'], since: null },
  ])
})
test('if jobs read only some channels, the channels of another job are expected too', () => {
  const streams = ['watch_records', 'gifts'] as const
  const jobs = [makeJob({ streams, channels: { group: 'a' } }), makeJob({ streams, channels: { group: 'b' } })]
  expect(judge({ ...base, jobs }).findings).toEqual([{ kind: 'unread', streams, channels: ['10'], since: null }])
})
