import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { type Proof, type Window } from '../../src/core/slice.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { readGaps } from '../../src/ledger/slices/coverage.ts'
import { startRun } from '../../src/ledger/runs/runs.ts'
import { recordSlices } from '../../src/ledger/slices/slices.ts'
import { ofTest } from '../helpers/of-file.ts'
import { openTransaction, untilBlocked } from '../helpers/own-locks.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const AT = new Date('2026-11-20T06:30:00Z')
const minute = (text: string) => parseWallTime(text) ?? 0

const entryOf = (runId: string, window: Window | undefined) => ({
  runId,
  stream: 'watch_records' as const,
  partition: { channel: '9' },
  window,
  covers: window,
  settled: undefined as Window | undefined,
  lookbackDays: 3,
  backfillId: undefined,
  proof: 'verified' as Proof,
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
const newRun = async () => await startRun(database.db, { command: 'sync', settings: {}, startedAt: AT })

test('two that land the first slices of a partition at once both count', async () => {
  const { db } = database
  const runId = await newRun()
  const entry = (window: Window) => entryOf(runId, window)
  const [from, middle, to] = [minute('2026-11-01 00:00'), minute('2026-11-02 00:00'), minute('2026-11-03 00:00')]
  await using first = await openTransaction(db)
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

test('what a state grows by is what all slices of the partition say together', async () => {
  const { db } = database
  const runId = await newRun()
  const day = (number: number) => minute(`2026-11-${String(number).padStart(2, '0')} 00:00`)
  const after = (days: number) => new Date(AT.getTime() + days * 86_400_000)
  const days = (from: number, to: number) => entryOf(runId, { from: day(from), to: day(to) })
  const walk = (proof: Proof, at: Date) => ({ ...entryOf(runId, undefined), proof, startedAt: at, finishedAt: at })
  const states = sql`select * from livehouse_ops.partition_states order by stream, partition`
  /** An update of nothing has all slices counted. */
  const expectWhole = async () => {
    const { rows: grown } = await states.execute(db)
    await sql`update livehouse_ops.slices set piece_of = piece_of`.execute(db)
    expect(grown).toEqual((await states.execute(db)).rows)
  }
  const others = { stream: 'gifts', partition: { channel: '9', type: 'cash' } }
  for (const slices of [
    [days(1, 3)],
    [{ ...days(5, 6), settled: { from: day(5), to: day(6) }, lookbackDays: 3, finishedAt: after(-1) }],
    [
      { ...days(3, 4), proof: 'short' as const, error: 'why' },
      { ...days(2, 5), ...others },
    ],
    [{ ...days(3, 4), settled: { from: day(3), to: day(4) }, lookbackDays: 1, proof: 'agreed' as const }, days(4, 5)],
    [{ ...days(7, 8), proof: 'moving' as const, finishedAt: after(1) }],
    ...(['failed', 'verified', 'failed', 'short', 'moving', 'verified'] as const).map((proof, number) => [
      { ...walk(proof, after(Math.floor(number / 2))), partition: { channel: '8' } },
      { ...walk(proof, after(-Math.floor(number / 2))), partition: { channel: '7' } },
    ]),
  ]) {
    await recordSlices(db, slices).execute()
    await expectWhole()
  }
  // A piece stands where that stood of which it is one, and a number that was given out earlier may come later.
  for (const [number, piece] of [
    [999, sql`slice_id`],
    [-1, sql`null::bigint`],
  ] as const) {
    await sql`insert into livehouse_ops.slices (slice_id, run_id, stream, partition, reads, covers, status, proof, piece_of,
        is_drop, distinct_rows, quarantined_rows, calls, retries, started_at, finished_at)
      overriding system value
      select ${number}, run_id, stream, partition, reads, covers, status, proof, ${piece},
        is_drop, 0, 0, 0, 0, started_at, finished_at
      from livehouse_ops.slices where slice_id = (select min(slice_id) from livehouse_ops.slices)`.execute(db)
    await expectWhole()
  }
})
