import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { systemClock } from '../src/core/clock.ts'
import { DAY, wallTimeAt } from '../src/core/wall-clock.ts'
import type { Database } from '../src/db/database.ts'
import { locateHome } from '../src/db/embedded/home.ts'
import { startEmbedded, stopEmbedded } from '../src/db/embedded.ts'
import { migrateUp } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/pool.ts'
import { planSync } from '../src/pipeline/plan-sync.ts'
import { mergeSlices } from '../src/state/merge-slices.ts'
import { startRun } from '../src/state/runs.ts'
import { watchRecords } from '../src/streams/watch-records.ts'

/**
 * How long planning takes with a million slices over 10,000 partitions, beside counting the same table. In an embedded
 * PostgreSQL of its own, which is removed at the end: `npm run bench:plan`.
 */

const PARTITIONS = 10_000
const SLICES_EACH = 100
const RUNS = 7
const TIME_ZONE = 'Asia/Shanghai'
const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(name)))

/** A night of each channel a slice, with the lookback before it; every hundredth night of a channel is missing. */
async function fill(db: Kysely<Database>, now: number): Promise<void> {
  const runId = await startRun(db, { command: 'bench', settings: {}, startedAt: new Date(systemClock.now()) })
  const today = new Date(now * 1000).toISOString().slice(0, 10)
  await sql`
    insert into livehouse_ops.slices (run_id, stream, partition, covers, settled, reads, status, proof, first_total, last_total,
      smallest_total, largest_total, distinct_rows, quarantined_rows, calls, retries, started_at, finished_at)
    select ${runId}::bigint, 'watch_records', 'channel=' || channel, range, range * tsrange(null, night - interval '3 days'), range, 'landed', 'verified', 9, 9, 9, 9, 9, 0, 1, 0, at, at
    from generate_series(${SLICES_EACH}, 1, -1) as ago, generate_series(1, ${PARTITIONS}) as channel,
      lateral (select ${today}::timestamp - make_interval(days => ago) as night) as nights,
      lateral (select tsrange(night - interval '4 days', night) as range,
        (night at time zone ${TIME_ZONE}) + interval '2 hours' as at) as slice
    where (ago + channel) % 100 <> 0`.execute(db)
  await sql`vacuum (analyze) livehouse_ops.slices`.execute(db)
}

async function measure(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < RUNS; run++) {
    stop.signal.throwIfAborted()
    const startedAt = systemClock.now()
    await work()
    times.push(systemClock.now() - startedAt)
  }
  return times.sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function bench(db: Kysely<Database>): Promise<void> {
  await migrateUp(db)
  const now = wallTimeAt(systemClock.now(), TIME_ZONE)
  await fill(db, now)
  const channels = Array.from({ length: PARTITIONS }, (_, index) => {
    return { channelId: `${index + 1}`, from: undefined, until: undefined }
  })
  const plan = {
    streams: [watchRecords],
    channels,
    historyFrom: now - (SLICES_EACH + 10) * DAY,
    now,
    timeZone: TIME_ZONE,
  }
  const plans = await planSync(db, plan, () => [])
  const slices = plans.reduce((sum, each) => sum + each.slices.length, 0)
  const planMs = await measure(() => planSync(db, plan, () => []))
  const { rows } = await sql<{ count: string }>`select count(*) from livehouse_ops.slices`.execute(db)
  const countMs = await measure(() => sql`select count(*) from livehouse_ops.slices`.execute(db))
  say(`${rows[0]?.count} slices, ${plans.length} partitions; median of ${RUNS}`)
  say(`planSync           ${planMs} ms (${slices} slices to read)`)
  say(`select count(*)    ${countMs} ms`)
  say(`ratio              ${(planMs / countMs).toFixed(1)}`)
  const startedAt = systemClock.now()
  const gone = await mergeSlices(db, new Date(startedAt))
  say(`mergeSlices, once  ${systemClock.now() - startedAt} ms (${gone} rows became part of others)`)
  say(`planSync after it  ${await measure(() => planSync(db, plan, () => []))} ms`)
}

const dataDir = await mkdtemp(join(tmpdir(), 'livehouse-bench-'))
try {
  const server = await startEmbedded(dataDir, systemClock, stop.signal)
  await using db = await openDatabase(server.url('postgres'), { signal: stop.signal })
  await bench(db)
} finally {
  await stopEmbedded(dataDir, new AbortController().signal)
  const { place } = await locateHome(dataDir)
  for (const path of [place, dataDir]) await rm(path, { recursive: true, force: true })
}
