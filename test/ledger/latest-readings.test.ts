import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { readGaps } from '../../src/ledger/coverage.ts'
import { startRun } from '../../src/ledger/runs.ts'
import { recordSlices } from '../../src/ledger/slices.ts'
import { untilBlocked } from '../helpers/own-locks.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const AT = new Date('2026-11-20T06:30:00Z')
const minute = (text: string) => parseWallTime(text) ?? 0

test('two that land the first slices of a partition at once both count', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt: AT })
  const entry = (window: { from: number; to: number }) => ({
    runId,
    stream: 'watch_records' as const,
    partition: { channel: '9' },
    window,
    covers: window,
    settled: undefined,
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
  const [from, middle, to] = [minute('2026-11-01 00:00'), minute('2026-11-02 00:00'), minute('2026-11-03 00:00')]
  const first = await db.startTransaction().execute()
  await recordSlices(first, [entry({ from, to: middle })]).execute()
  const second = db.transaction().execute(async (trx) => {
    await recordSlices(trx, [entry({ from: middle, to })]).execute()
  })
  await untilBlocked(db, sql`true`)
  await first.commit().execute()
  await second
  const gaps = await readGaps(db, 'watch_records', [{ partition: 'channel=9', window: { from, to } }])
  expect(gaps.get('channel=9')).toEqual([])
})
