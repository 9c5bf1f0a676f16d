import { describe, expect, test } from 'vitest'
import { DAY } from '../../src/core/wall-clock.ts'
import { judge, createExpectations } from '../../src/web/verdict.ts'
import {
  makeChannel,
  makeFacts,
  makeReading,
  makeRun,
  makeUnit,
  NOW,
  NOW_MS,
  THIS_NIGHT,
} from '../helpers/status-facts.ts'
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

test('before the first run nothing is said to be missing', () => {
  expect(judge(makeFacts({ runs: [], units: [] })).status).toBe('empty')
})

test('while the first run goes on, what is not there yet is no finding to be read', () => {
  const runs = [makeRun({ status: 'running', finishedAt: null, startedAt: new Date(NOW_MS - HOUR_MS) })]
  expect(judge(makeFacts({ runs, units: [] }))).toMatchObject({ status: 'first', isRunning: true })
})

test('runs that read nothing leave nothing that could be complete', () => {
  expect(judge(makeFacts({ units: [], channels: [] })).status).toBe('incomplete')
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

test('a whole list that was never read to its end is late', () => {
  const units = makeFacts().units.map((unit) =>
    unit.stream === 'visitors' ? makeUnit({ ...unit, landedAt: null }) : unit,
  )
  const verdict = judge(makeFacts({ units }))
  expect(verdict.findings).toEqual([{ kind: 'late', stream: 'visitors', channels: 1, since: null }])
  expect(verdict.completeUntil).toBeUndefined()
})

test('a channel that is read only until some day is not late after it', () => {
  const facts = makeFacts({ units: [makeUnit({ until: NOW - 9 * DAY }), ...makeFacts().units.slice(1)] })
  expect(judge(facts).status).toBe('incomplete')
  const ended = judge(
    facts,
    createExpectations(facts, () => ({ until: NOW - 9 * DAY })),
  )
  expect(ended).toMatchObject({ status: 'complete', findings: [] })
  const short = judge(
    facts,
    createExpectations(facts, () => ({ until: NOW - 8 * DAY })),
  )
  expect(short.findings).toEqual([{ kind: 'late', stream: 'watch_records', channels: 1, since: NOW - 9 * DAY }])
})

test('a whole list of a channel with an end is walked on', () => {
  const old = new Date(NOW_MS - 40 * HOUR_MS)
  const units = makeFacts().units.map((unit) => (unit.isWindowed ? unit : makeUnit({ ...unit, landedAt: old })))
  const facts = makeFacts({ units })
  const { findings } = judge(
    facts,
    createExpectations(facts, () => ({ until: NOW - 9 * DAY })),
  )
  expect(findings.map(({ kind }) => kind)).toEqual(['late', 'late'])
})

test('an active channel that nothing was read of is found for each stream; gone ones are not', () => {
  const channels = [makeChannel(), makeChannel({ channelId: '10' }), makeChannel({ channelId: '11', state: 'gone' })]
  const found = judge(makeFacts({ channels })).findings
  expect(found).toHaveLength(4)
  expect(found).toContainEqual({ kind: 'unread', stream: 'gifts', channels: 1 })
})

test('a stream that a job is to read and that was never read is found', () => {
  const streams = ['visitors', 'watch_records', 'watch_records_v1', 'gifts', 'signups', 'managers'] as const
  const units = makeFacts().units.filter(({ stream }) => stream !== 'gifts')
  const verdict = judge(makeFacts({ units, jobs: [makeJob({ streams })] }))
  expect(verdict.status).toBe('incomplete')
  expect(verdict.findings).toEqual([
    { kind: 'unread', stream: 'gifts', channels: 1 },
    { kind: 'late', stream: 'managers', channels: 0, since: null },
  ])
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

test('short readings, gaps and a failed run are found', () => {
  const units = makeFacts().units.map((unit) => (unit.stream === 'gifts' ? { ...unit, gaps: 2 } : unit))
  const runs = [makeRun({ runId: '8', status: 'failed', command: 'run nightly' }), makeRun()]
  const { findings, status } = judge(
    makeFacts({ units, runs, open: [makeReading(), makeReading({ kind: 'accepted' })] }),
  )
  expect(status).toBe('incomplete')
  expect(findings).toEqual([
    { kind: 'failedRun', runId: '8', command: 'run nightly' },
    { kind: 'problem', stream: 'watch_records', partitions: 1 },
    { kind: 'gap', stream: 'gifts', gaps: 2, channels: 1 },
  ])
})

test('version 1, which has ten calls a day, does not decide', () => {
  const v1 = makeUnit({ stream: 'watch_records_v1', until: NOW - 300 * DAY })
  expect(judge(makeFacts({ units: [...makeFacts().units, v1] })).status).toBe('complete')
})

test('a run that was killed is not under way', () => {
  const killed = makeRun({ status: 'interrupted', finishedAt: null })
  expect(judge(makeFacts({ runs: [makeRun(), killed] })).isRunning).toBe(false)
})

const job = { name: 'j', cron: '15 2 * * *', timeZone: 'UTC', next: undefined, isRunning: false, last: undefined }

test('jobs say of which channels a stream is wanted; what no job reads is wanted of all', () => {
  const { isWanted } = createExpectations(
    makeFacts({
      channels: [makeChannel(), makeChannel({ channelId: '10', group: 'shop' })],
      jobs: [
        { ...job, streams: ['gifts', 'visitors'], channels: { group: 'shop' } },
        { ...job, streams: ['gifts'], channels: ['12'] },
      ],
    }),
  )
  const wanted = (stream: string) => ['9', '10', '12', 'unknown'].map((channelId) => isWanted(stream, channelId))
  expect(wanted('gifts')).toEqual([false, true, true, false])
  expect(wanted('visitors')).toEqual([false, true, false, false])
  expect(wanted('watch_records')).toEqual([true, true, true, true])
})
