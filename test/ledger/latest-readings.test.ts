import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { startRun } from '../../src/ledger/runs/runs.ts'
import { readGaps } from '../../src/ledger/slices/coverage.ts'
import { openTransaction, untilBlocked } from '../helpers/own-locks.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const recordSlice = (from: string, to: string) =>
  sql`insert into livehouse_ops.slices (run_id, stream, partition, covers, reads, status, proof, distinct_rows,
    quarantined_rows, calls, retries, started_at, finished_at)
    select max(run_id), 'watch_records', 'channel=9', r, r, 'landed', 'verified', 0, 0, 1, 0, now(), now()
    from livehouse_ops.runs, tsrange(${from}, ${to}) r group by r`

test('two first slices of a partition that land at the same time both count', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  await startRun(db, { command: 'sync', settings: {}, startedAt: new Date('2026-11-20T06:30:00Z') })
  await using first = await openTransaction(db)
  await recordSlice('2026-11-01', '2026-11-02').execute(first)
  const second = recordSlice('2026-11-02', '2026-11-03').execute(db)
  await untilBlocked(db, sql`true`)
  await first.commit().execute()
  await second
  const window = { from: parseWallTime('2026-11-01') ?? 0, to: parseWallTime('2026-11-03') ?? 0 }
  const gaps = await readGaps(db, 'watch_records', [{ partition: 'channel=9', window }])
  expect(gaps.get('channel=9')).toEqual([])
})
