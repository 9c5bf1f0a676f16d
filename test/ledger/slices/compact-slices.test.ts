import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { sync } from '../../../src/cli/sync.ts'
import { openBackfill } from '../../../src/ledger/backfills.ts'
import { startRun } from '../../../src/ledger/runs/runs.ts'
import { mergeSlices } from '../../../src/ledger/slices/compact-slices.ts'
import type { Database } from '../../../src/store/database.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'
import { startAccount } from '../../helpers/start-account.ts'

const NOW = new Date('2026-11-20T06:30:00Z')
const DAY_MS = 86_400_000

const statuses = ['landed', 'landed', 'landed', 'moving', 'failed'] as const
const slices = fc.array(
  fc.record({
    partition: fc.constantFrom('channel=1', 'channel=2'),
    from: fc.nat(25),
    length: fc.integer({ min: 1, max: 6 }),
    /** Hours between the end of the range and its reading: rows change for a day. */
    lagHours: fc.constantFrom(0, 48, 48, 72),
    status: fc.constantFrom(...statuses),
    proof: fc.constantFrom('verified', 'verified', 'accepted'),
    failure: fc.constantFrom('short', 'failed'),
    of: fc.constantFrom('none', 'none', 'none', 'open', 'finished'),
    isDrop: fc.nat(5).map((number) => number === 0),
    isWalk: fc.nat(9).map((number) => number === 0),
    /** How many slices before this piece the reading was that it was cut from. */
    pieceOf: fc.constantFrom(null, null, null, 2, 5),
    rows: fc.nat(100),
  }),
  { maxLength: 30, size: 'max' },
)

const FIRST_DAY = Date.parse('2026-10-15T00:00:00Z')

const dayAt = (day: number) => new Date(FIRST_DAY + day * DAY_MS)

function rangeOf(from: number, length: number): string {
  const time = (day: number) => dayAt(day).toISOString().slice(0, 19).replace('T', ' ')
  return `[${time(from)},${time(from + length)})`
}

async function setUp(db: Kysely<Database>) {
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt: NOW })
  // More than an entry of a B-tree index can hold.
  const channels = Array.from({ length: 1000 }, () => randomUUID())
  const backfillRange = { from: '2026-01-01', to: '2026-01-02', streams: [], channels, onlyGaps: false }
  const { backfillId: open } = await openBackfill(db, backfillRange, NOW, false)
  const { backfillId: finished } = await openBackfill(db, { ...backfillRange, onlyGaps: true }, NOW, false)
  await sql`update livehouse_ops.backfills set status = 'finished' where backfill_id = ${finished}`.execute(db)
  return { runId, backfills: { none: null, open, finished } }
}

async function insert(
  db: Kysely<Database>,
  { runId, backfills }: Awaited<ReturnType<typeof setUp>>,
  rows: readonly (typeof slices extends fc.Arbitrary<(infer Slice)[]> ? Slice : never)[],
): Promise<void> {
  await sql`truncate livehouse_ops.slices restart identity cascade`.execute(db)
  const values = rows.map(({ partition, from, length, lagHours, status, proof, failure, of, ...row }, at) => {
    // The service's zone is eight hours ahead.
    const readAt = new Date(dayAt(from + length).getTime() + (lagHours - 8) * 3_600_000)
    const range = row.isWalk ? null : rangeOf(from, length)
    const total = proof === 'verified' ? row.rows : null
    return {
      run_id: runId,
      stream: 'gifts',
      partition,
      covers: range,
      reads: range,
      backfill_id: backfills[of],
      status,
      proof: status === 'failed' ? failure : proof,
      piece_of: row.pieceOf === null || row.isWalk ? null : String(at + 1 - row.pieceOf),
      first_total: total,
      last_total: total,
      smallest_total: total,
      largest_total: total,
      distinct_rows: row.rows,
      quarantined_rows: row.rows % 3,
      calls: row.rows + 1,
      retries: row.rows % 2,
      is_drop: row.isDrop,
      error: null,
      started_at: readAt,
      finished_at: readAt,
    }
  })
  if (values.length > 0) await db.insertInto('livehouse_ops.slices').values(values).execute()
}

/** Settles ranges as a landing does, up to a day of lookback before the reading. */
async function settle(db: Kysely<Database>): Promise<void> {
  await sql`update livehouse_ops.slices set settled = nullif(
    covers * tsrange(null, started_at at time zone 'Asia/Shanghai' - interval '1 day'), 'empty')`.execute(db)
}

async function readFacts(db: Kysely<Database>): Promise<unknown> {
  const { rows: sums } = await sql`
    select stream, partition, proof, status, range_agg(covers)::text as covered, range_agg(reads)::text as reads,
      sum(distinct_rows) as rows, sum(quarantined_rows) as quarantined, sum(calls) as calls, sum(retries) as retries,
      sum(first_total) as first, sum(last_total) as last, sum(smallest_total) as smallest, sum(largest_total) as largest,
      min(started_at) as started_at, max(finished_at) as finished_at, max(run_id) as run_id, max(coalesce(piece_of, slice_id)) as slice_id
    from livehouse_ops.slices group by stream, partition, proof, status order by 2, 3, 4`.execute(db)
  const { rows: settled } = await sql`
    select partition, range_agg(settled)::text
    from livehouse_ops.slices where status = 'landed' group by partition order by partition`.execute(db)
  const { rows: kept } = await sql`
    select slices.* from livehouse_ops.slices left join livehouse_ops.backfills using (backfill_id)
    where backfills.status = 'open' or is_drop or slices.status <> 'landed' or covers is null
      or slices.finished_at > ${new Date(NOW.getTime() - 7 * DAY_MS)} order by slice_id`.execute(db)
  const { rows: open } = await sql`
    select * from livehouse_ops.open_readings where kind = 'problem' order by slice_id`.execute(db)
  return { sums, settled, kept, open }
}

test('a merge keeps coverage, sums, gaps, open backfills, drops and the ranges that are still to be read', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  const world = await setUp(db)
  let merged = 0
  await fc.assert(
    fc.asyncProperty(slices, async (rows) => {
      await insert(db, world, rows)
      await settle(db)
      const before = await readFacts(db)
      const { rows: count } = await sql`select from livehouse_ops.slices`.execute(db)
      const deletedCount = await mergeSlices(db, NOW)
      expect(await readFacts(db)).toEqual(before)
      const { rows: remaining } = await sql`select from livehouse_ops.slices`.execute(db)
      expect(remaining).toHaveLength(count.length - deletedCount)
      expect(await mergeSlices(db, NOW)).toBe(0)
      merged += deletedCount
    }),
    { numRuns: 100 },
  )
  expect(merged).toBeGreaterThan(5)
})

test('a run merges slices older than a week, and later runs read the same ranges as before', async () => {
  await using account = await startAccount()
  const { run, clock, database } = account
  const count = async () => {
    const { rows } = await sql`
      select from livehouse_ops.slices where status = 'landed'
      and covers is not null and partition like '%type=cash'`.execute(database.db)
    return rows.length
  }
  const streams = ['--streams', 'gifts']
  for (let day = 0; day < 4; day++) {
    expect(await run(sync, streams)).toMatchObject({ code: 0 })
    clock.nowMs += DAY_MS
  }
  // Each night after the first leaves two slices of a channel: the part that agrees, and the rest.
  expect(await count()).toBe(14)
  clock.nowMs += 7 * DAY_MS
  const calls = account.emulator.calls.length
  expect(await run(sync, streams)).toMatchObject({ code: 0 })
  expect(await count()).toBe(8)
  const starts = () => account.emulator.calls.map(({ params }) => String(params.startTime))
  expect(starts().slice(calls).toSorted()[0]).toContain('2026-11-22')
  const more = account.emulator.calls.length
  clock.nowMs += DAY_MS
  expect(await run(sync, streams)).toMatchObject({ code: 0 })
  // The range that was read for the first time is read again.
  expect(starts().slice(more).toSorted()[0]).toContain('2026-11-23')
})
