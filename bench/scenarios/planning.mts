import { type Kysely, sql } from 'kysely'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { DAY, wallTimeAt } from '../../src/core/wall-clock.ts'
import { mergeSlices, pruneSlices } from '../../src/ledger/slices/compact-slices.ts'
import type { Database } from '../../src/store/database.ts'
import { visitors } from '../../src/streams/visitors.ts'
import { watchRecords } from '../../src/streams/watch-records.ts'
import { planSync } from '../../src/sync/plan-slices.ts'
import { startStatusServer } from '../../src/web/start-status-server.ts'
import { silentLog } from '../../test/helpers/silent-log.ts'
import { type BenchEmulator, openEmulator } from '../lib/emulator.mts'
import { atMost, type Measure, median } from '../lib/measures.mts'
import { runProgram } from '../lib/run-program.mts'
import { type Bench, databaseName, programOptions, type Scenario } from '../lib/scenario.mts'

const CHANNELS = 5000
const DAYS = 365
const TIME_ZONE = 'Asia/Shanghai'

/** j): the time of planning, status, page and start with a year of nights: 3.65 million slices of 10,000 partitions. */
export const planning: Scenario = {
  letter: 'j',
  title: 'planning, status, page and start with a ledger of 3.65 million slices',
  run: async (bench) => {
    const url = await bench.server.fresh(databaseName('planning'))
    const world = { channels: 10, visitors: 1, isWhole: true }
    await using emulator = await openEmulator({ world }, bench.signal)
    const db = await bench.server.open(url)
    try {
      return await measureLedger(bench, emulator, db, url)
    } finally {
      await db.destroy()
    }
  },
}

async function measureLedger(
  bench: Bench,
  emulator: BenchEmulator,
  db: Kysely<Database>,
  databaseUrl: string,
): Promise<readonly Measure[]> {
  const own = (emulator.env.LIVEHOUSE_CHANNELS ?? '').split(',')
  const count = bench.isQuick ? CHANNELS / 100 : CHANNELS
  const channelIds = [...own, ...Array.from({ length: count - own.length }, (_, index) => `bench${index}`)]
  const now = wallTimeAt(systemClock.now(), TIME_ZONE)
  await fill(db, now, channelIds)
  const plan = {
    streams: [watchRecords, visitors],
    channels: channelIds.map((channelId) => ({ channelId, from: undefined, until: undefined })),
    historyFrom: now - (DAYS + 10) * DAY,
    now,
    timeZone: TIME_ZONE,
  }
  const measure = async (work: () => Promise<unknown>): Promise<number> => {
    const times: number[] = []
    for (let round = 0; round < (bench.isQuick ? 1 : 5); round += 1) {
      bench.signal.throwIfAborted()
      times.push(await timed(work))
    }
    return median(times)
  }
  const options = programOptions(bench, emulator, { databaseUrl })
  const run = (...args: string[]) => measure(async () => await runProgram(['src/cli.ts', ...args], options))
  const title = (what: string) => `${(count * 2 * DAYS).toLocaleString('en')} slices: ${what}`
  const row = (what: string, value: number, most?: number): Measure => {
    return {
      name: title(what),
      value,
      unit: 'ms',
      ...(bench.isQuick || most === undefined ? {} : { goal: atMost(most) }),
    }
  }
  return [
    row('planning a sync of all channels', await measure(async () => await planSync(db, plan, () => [])), 2000),
    row('livehouse status', await run('status'), 1000),
    row('the first page of a status server', await measure(async () => await readPage(db)), 500),
    row(
      'livehouse sync --dry-run of ten channels',
      await run('sync', '--dry-run', '--streams', 'visitors,watch_records'),
      1000,
    ),
    row('counting slices', await measure(async () => await sql`select count(*) from livehouse_ops.slices`.execute(db))),
    row('merging at the end of a run', await timed(async () => await mergeSlices(db, new Date(systemClock.now())))),
    row('pruning at the end of a run', await timed(async () => await pruneSlices(db, new Date(systemClock.now())))),
  ]
}

/** Requests the status page right after the start of its server, which has nothing cached. */
export async function readPage(db: Kysely<Database>, clock: Clock = systemClock): Promise<void> {
  await using server = await startStatusServer({
    db,
    clock,
    log: silentLog,
    listen: { host: '127.0.0.1', port: 0 },
    token: undefined,
    language: undefined,
    version: 'bench',
    budget: { v1Budget: 10, v1BudgetScope: 'account' },
    readJobs: async () => [],
  })
  const response = await fetch(server.url)
  if (!response.ok) throw new Error(`${server.url} answered ${response.status}`)
  await response.text()
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = systemClock.now()
  await work()
  return systemClock.now() - startedAt
}

/** One run per night: of each channel a walk, and a window that includes the lookback; every hundredth is missing. */
async function fill(db: Kysely<Database>, now: number, channelIds: readonly string[]): Promise<void> {
  const today = new Date(now * 1000).toISOString().slice(0, 10)
  await sql`insert into livehouse.channels (channel_id, state, run_id) select id, 'active', 1 from unnest(${channelIds}::text[]) as id`.execute(
    db,
  )
  await sql`insert into livehouse_ops.runs (command, status, settings, started_at, finished_at)
    select 'sync', 'ok', '{}', at, at + interval '1 hour'
    from generate_series(${DAYS}, 1, -1) as ago,
      lateral (select ((${today}::timestamp - make_interval(days => ago)) at time zone ${TIME_ZONE}) + interval '2 hours' as at) as night`.execute(
    db,
  )
  await sql`
    insert into livehouse_ops.slices (run_id, stream, partition, covers, settled, reads, status, proof, first_total, last_total,
      smallest_total, largest_total, distinct_rows, quarantined_rows, calls, retries, started_at, finished_at)
    select run_id, stream, 'channel=' || channel_id, range, range * tsrange(null, night - interval '3 days'), range, 'landed',
      'verified', 9, 9, 9, 9, 9, 0, 1, 0, started_at, started_at
    from livehouse_ops.runs, unnest(${channelIds}::text[]) with ordinality as channels (channel_id, number),
      lateral (select date_trunc('day', started_at at time zone ${TIME_ZONE}) as night) as nights,
      lateral (values ('visitors', null), ('watch_records', tsrange(night - interval '4 days', night))) as slice (stream, range)
    where range is null or (run_id + number) % 100 <> 0`.execute(db)
  for (const table of ['slices', 'partition_states', 'runs'])
    await sql`vacuum (analyze) ${sql.table(`livehouse_ops.${table}`)}`.execute(db)
}
