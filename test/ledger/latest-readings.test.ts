import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Window } from '../../src/core/slice.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { startRun } from '../../src/ledger/runs/runs.ts'
import { readGaps } from '../../src/ledger/slices/coverage.ts'
import { recordSlices } from '../../src/ledger/slices/slices.ts'
import { ofTest } from '../helpers/of-file.ts'
import { openTransaction, untilBlocked } from '../helpers/own-locks.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const AT = new Date('2026-11-20T06:30:00Z')
const minute = (text: string) => parseWallTime(text) ?? 0

const makeSlice = (runId: string, window: Window) => ({
  runId,
  stream: 'watch_records' as const,
  partition: { channel: '9' },
  window,
  covers: window,
  settled: undefined,
  lookbackDays: 3,
  backfillId: undefined,
  proof: 'verified' as const,
  totals: undefined,
  distinctRows: 0,
  quarantinedRows: 0,
  calls: 1,
  retries: 0,
  isDrop: false,
  error: undefined,
  startedAt: AT,
  finishedAt: AT,
})

const database = ofTest(createTestDatabase)

test('two first slices of a partition that land at the same time both count', async () => {
  const { db } = database
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt: AT })
  const [from, middle, to] = [minute('2026-11-01 00:00'), minute('2026-11-02 00:00'), minute('2026-11-03 00:00')]
  await using first = await openTransaction(db)
  await recordSlices(first, [makeSlice(runId, { from, to: middle })])
  const second = db.transaction().execute(async (trx) => {
    await recordSlices(trx, [makeSlice(runId, { from: middle, to })])
  })
  await untilBlocked(db, sql`true`)
  await first.commit().execute()
  await second
  const gaps = await readGaps(db, 'watch_records', [{ partition: 'channel=9', window: { from, to } }])
  expect(gaps.get('channel=9')).toEqual([])
})
