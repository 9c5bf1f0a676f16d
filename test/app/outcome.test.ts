import { expect, test } from 'vitest'
import { outcomeObject } from '../../src/app/outcome.ts'

test('the JSON of a run has the fields of the contract, in its order', () => {
  const when = { startedAt: '2026-11-20T17:00:00.000Z', finishedAt: '2026-11-20T17:00:09.000Z' }
  const known = { removed: 5, quarantined: 6, degraded: 7, calls: 8, retries: 9 }
  const errors = [{ stream: 'visitors', partition: 'channel=9', code: 'slice.short', message: '9 of 10' }] as const
  const counts = { ...known, unchanged: 4, updated: 3, inserted: 2, extracted: 1 }
  const slices = { failed: 7, accepted: 6, short: 5, moving: 4, unverifiable: 3, agreed: 2, verified: 1 }
  const ended = { status: 'partial', ...when, resumesAt: '2026-11-21T16:05:00.000Z' } as const
  const run = { runId: '12', command: 'sync', ...ended }
  expect(JSON.stringify(outcomeObject({ ...run, streams: { visitors: { counts, slices } }, errors }))).toBe(
    '{"run_id":"12","command":"sync","status":"partial","started_at":"2026-11-20T17:00:00.000Z",' +
      '"finished_at":"2026-11-20T17:00:09.000Z","resumes_at":"2026-11-21T16:05:00.000Z","streams":{"visitors":' +
      '{"extracted":1,"inserted":2,"updated":3,"unchanged":4,"removed":5,"quarantined":6,"degraded":7,"calls":8,"retries":9,' +
      '"slices":{"verified":1,"agreed":2,"unverifiable":3,"moving":4,"short":5,"accepted":6,"failed":7}}},' +
      '"errors":[{"stream":"visitors","partition":"channel=9","code":"slice.short","message":"9 of 10"}]}',
  )
})
