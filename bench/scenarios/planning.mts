import { type Kysely, sql } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import { DAY, wallTimeAt } from '../../src/core/wall-clock.ts'
import type { Database } from '../../src/db/database.ts'
import { planSync } from '../../src/pipeline/plan-sync.ts'
import { mergeSlices } from '../../src/state/merge-slices.ts'
import { startRun } from '../../src/state/runs.ts'
import { watchRecords } from '../../src/streams/watch-records.ts'
import { atMost, type Measure, median } from '../lib/measures.mts'
import { type Bench, databaseName, type Scenario } from '../lib/scenario.mts'

const PARTITIONS = 10_000
const SLICES_EACH = 100
const TIME_ZONE = 'Asia/Shanghai'

/** How long planning takes with a million slices over 10,000 partitions, beside counting the same table. */
export const planning: Scenario = {
  letter: 'j',
  title: 'planning a sync over a ledger of a million slices',
  run: async (bench) => {
    const db = await bench.server.open(await bench.server.fresh(databaseName('planning')))
    try {
      return await measurePlanning(bench, db)
    } finally {
      await db.destroy()
    }
  },
}

async function measurePlanning(bench: Bench, db: Kysely<Database>): Promise<readonly Measure[]> {
  const partitions = bench.isQuick ? PARTITIONS / 100 : PARTITIONS
  const rounds = bench.isQuick ? 1 : 7
  const now = wallTimeAt(systemClock.now(), TIME_ZONE)
  await fill(db, now, partitions)
  const plan = {
    streams: [watchRecords],
    channels: Array.from({ length: partitions }, (_, index) => {
      return { channelId: `${index + 1}`, from: undefined, until: undefined }
    }),
    historyFrom: now - (SLICES_EACH + 10) * DAY,
    now,
    timeZone: 'Asia/Shanghai',
  }
  const measure = async (work: () => Promise<unknown>): Promise<number> => {
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      bench.signal.throwIfAborted()
      times.push(await timed(work))
    }
    return median(times)
  }
  const planMs = await measure(async () => await planSync(db, plan, () => []))
  const countMs = await measure(async () => await sql`select count(*) from livehouse_ops.slices`.execute(db))
  const mergeMs = await timed(async () => await mergeSlices(db, new Date(systemClock.now())))
  const mergedMs = await measure(async () => await planSync(db, plan, () => []))
  const title = (what: string) => `${(partitions * (SLICES_EACH - 1)).toLocaleString('en')} slices: ${what}`
  const goal = bench.isQuick ? {} : { goal: atMost(1000) }
  return [
    { name: title('planning'), value: planMs, unit: 'ms', ...goal },
    { name: title('planning ÷ counting them'), value: planMs / countMs, unit: '×' },
    { name: title('joining them, once'), value: mergeMs, unit: 'ms' },
    { name: title('planning when they are joined'), value: mergedMs, unit: 'ms', ...goal },
  ]
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = systemClock.now()
  await work()
  return systemClock.now() - startedAt
}

/** A night of each channel a slice, with the lookback before it; every hundredth night of a channel is missing. */
async function fill(db: Kysely<Database>, now: number, partitions: number): Promise<void> {
  const runId = await startRun(db, { command: 'bench', settings: {}, startedAt: new Date(systemClock.now()) })
  const today = new Date(now * 1000).toISOString().slice(0, 10)
  await sql`
    insert into livehouse_ops.slices (run_id, stream, partition, covers, settled, reads, status, proof, first_total, last_total,
      smallest_total, largest_total, distinct_rows, quarantined_rows, calls, retries, started_at, finished_at)
    select ${runId}::bigint, 'watch_records', 'channel=' || channel, range, range * tsrange(null, night - interval '3 days'), range, 'landed', 'verified', 9, 9, 9, 9, 9, 0, 1, 0, at, at
    from generate_series(${SLICES_EACH}, 1, -1) as ago, generate_series(1, ${partitions}) as channel,
      lateral (select ${today}::timestamp - make_interval(days => ago) as night) as nights,
      lateral (select tsrange(night - interval '4 days', night) as range,
        (night at time zone ${TIME_ZONE}) + interval '2 hours' as at) as slice
    where (ago + channel) % 100 <> 0`.execute(db)
  await sql`vacuum (analyze) livehouse_ops.slices`.execute(db)
}
