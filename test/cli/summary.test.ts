import { expect, test } from 'vitest'
import { summarize } from '../../src/cli/summary.ts'
import { noCounts, noSlices, type RunOutcome } from '../../src/core/outcome.ts'

const outcome = (removed: number): RunOutcome => ({
  runId: '1',
  command: 'sync',
  status: 'ok',
  startedAt: '2026-11-20T06:00:00.000Z',
  finishedAt: '2026-11-20T06:00:02.500Z',
  resumesAt: null,
  streams: {
    visitors: { counts: { ...noCounts, extracted: 10, removed, calls: 2 }, slices: { ...noSlices, verified: 1 } },
    gifts: { counts: noCounts, slices: noSlices },
  },
  errors: [],
})

test('rows that are gone at the source have a column where there are any', () => {
  expect(summarize(outcome(3)).slice(0, 3)).toEqual([
    'stream    read  inserted  updated  unchanged  removed  quarantined  degraded  calls  slices',
    'visitors    10         0        0          0        3            0         0      2  1 verified',
    'gifts        0         0        0          0        0            0         0      0',
  ])
})

test('and none where there are not', () => {
  expect(summarize(outcome(0)).join(' ')).not.toContain('removed')
})
