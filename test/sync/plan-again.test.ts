import { expect, test } from 'vitest'
import type { Stream } from '../../src/core/stream.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { planAgain } from '../../src/sync/plan-again.ts'
import { startRun } from '../../src/ledger/runs.ts'
import { recordSlice } from '../../src/ledger/slices.ts'
import { watchRecords } from '../../src/streams/watch-records.ts'
import { watchRecordsV1 } from '../../src/streams/watch-records-v1.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const begunAt = new Date('2026-11-20T06:00:00Z')
const later = new Date('2026-11-20T06:10:00Z')

const earlier = new Date('2026-11-20T05:59:59Z')

/** What is left for a run of what another had landed meanwhile. `isSettled`: its rows no longer changed then. */
async function countLeft(stream: Stream, startedAt: Date, isSettled: boolean, lookbackDays?: number): Promise<number> {
  await using database = await createTestDatabase()
  const { db } = database
  const partition = { channel: '9' }
  const window = { from: parseWallTime('2026-11-01') ?? 0, to: parseWallTime('2026-11-02') ?? 0 }
  const slice = { stream, partition, window, covers: window }
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt })
  await recordSlice(db, {
    ...slice,
    runId,
    stream: stream.name,
    settled: isSettled ? window : undefined,
    backfillId: undefined,
    proof: 'verified',
    totals: undefined,
    distinctRows: 0,
    quarantinedRows: 0,
    calls: 1,
    retries: 0,
    isDrop: false,
    error: undefined,
    startedAt,
    finishedAt: later,
  })
  const planned = lookbackDays === undefined ? slice : { ...slice, lookbackDays }
  return (await planAgain(db, { stream, partition, slices: [planned] }, begunAt, 'Asia/Shanghai')).length
}

test.each([
  ['that another run began after this one counts', later, 0],
  ['that it had begun at this very instant is read again: nobody can say which came first', begunAt, 1],
  ['that it had begun before is read again: it may be older than this run', earlier, 1],
])('of a partition that another run held, what %s', async (_name, startedAt, left) => {
  expect(await countLeft(watchRecords, startedAt, true)).toBe(left)
})

test('a slice that was read over days, and began before this run, counts where its rows no longer changed', async () => {
  expect(await countLeft(watchRecordsV1, earlier, true)).toBe(0)
  expect(await countLeft(watchRecordsV1, earlier, false)).toBe(1)
})

test('what was settled for a shorter lookback is read by a job with a longer one', async () => {
  expect(await countLeft(watchRecordsV1, earlier, true, 30)).toBe(1)
})
