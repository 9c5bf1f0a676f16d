import { type Kysely, sql } from 'kysely'
import { status } from '../../src/cli/status.ts'
import { sync } from '../../src/cli/sync.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { DAY, formatWallDate, wallTimeAt } from '../../src/core/wall-clock.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import type { Database } from '../../src/store/database.ts'
import { countRows } from '../../src/store/pool.ts'
import { findStream } from '../../src/streams/registry.ts'
import { createRollingWorld } from '../../test/helpers/rolling-world.ts'
import { environmentOf, runVerb } from '../../test/helpers/run-verb.ts'
import { atMost, type Measure, median } from '../lib/measures.mts'
import { databaseName, type Scenario } from '../lib/scenario.mts'
import { changeVisitors } from '../lib/world.mts'
import { readPage } from './planning.mts'

const CHANNELS = 20
const VIEWERS = 400
/** The share of viewers that change each night. */
const CHANGED = 0.01
const DAY_MS = DAY * 1000
const TIME_ZONE = 'Asia/Shanghai'

/**
 * Runs `livehouse sync` night after night over a world that grows with time: how large the warehouse and its ledger
 * get, and whether nights stay fast. Program and service share a clock that is moved from night to night. They also
 * share this process, so times include both.
 */
export const year: Scenario = {
  letter: 'year',
  title: `${CHANNELS} channels, a sync every night of a simulated year (--nights N, default 365)`,
  run: async (bench) => {
    const nights = bench.isQuick ? 5 : bench.nights
    const url = await bench.server.fresh(databaseName('year', nights))
    const startMs = systemClock.now() - nights * DAY_MS
    let aheadMs = -nights * DAY_MS
    const clock: Clock = { now: () => systemClock.now() + aheadMs, sleep: systemClock.sleep }
    const wallAt = (night: number) => wallTimeAt(startMs + night * DAY_MS, TIME_ZONE)
    const size = { seed: 1, channels: CHANNELS, viewers: VIEWERS, days: nights, timeZone: TIME_ZONE }
    const rolling = createRollingWorld({ ...size, endsAt: wallAt(nights) }, wallAt(0))
    await using emulator = await startEmulator({ world: rolling.world, clock, timeZone: TIME_ZONE })
    const environment = { ...environmentOf(emulator, { url }), LIVEHOUSE_HISTORY_FROM: formatWallDate(wallAt(-1)) }
    const timesMs: number[] = []
    const calls: number[] = []
    let notGreen = 0
    for (let night = 1; night <= nights; night += 1) {
      bench.signal.throwIfAborted()
      rolling.rollTo(wallAt(night))
      changeVisitors(rolling.world, CHANGED)
      const beganAtMs = systemClock.now()
      aheadMs = startMs + night * DAY_MS - beganAtMs
      const { code, error } = await runVerb(sync, [], { environment, clock, signal: bench.signal })
      if (error !== undefined) throw new Error(`night ${night}`, { cause: error })
      if (code !== 0) notGreen += 1
      timesMs.push(systemClock.now() - beganAtMs)
      calls.push(emulator.calls.splice(0).length)
      if (night % 30 === 0)
        bench.say(`night ${night}: ${median(timesMs.slice(-30))} ms, ${median(calls.slice(-30))} calls`)
    }
    const db = await bench.server.open(url)
    try {
      const truth = Object.entries(emulator.truth()).filter(
        ([table]) => table !== 'manager_usage' && findStream(table)?.isBudgeted !== true,
      )
      const landed = await Promise.all(truth.map(async ([table]) => await countRows(db, table)))
      const missing = truth.reduce((sum, [, rows], index) => sum + Math.abs(rows.length - (landed[index] ?? 0)), 0)
      const first = timesMs.slice(1, 31)
      const last = timesMs.slice(-30)
      const row = (name: string, value: number, unit: string): Measure => ({ name, value, unit })
      const statusMs = await timed(() => runVerb(status, [], { environment, clock }))
      return [
        row('nights', nights, ''),
        { ...row('nights that were not green', notGreen, ''), goal: atMost(0) },
        { ...row('rows by which warehouse and service differ', missing, 'rows'), goal: atMost(0) },
        row(
          'rows of the warehouse',
          landed.reduce((sum, rows) => sum + rows, 0),
          'rows',
        ),
        row('a night of the first 30 after the very first (median)', median(first), 'ms'),
        row('a night of the last 30 (median)', median(last), 'ms'),
        row('the longest of the last 30', Math.max(...last), 'ms'),
        row('calls of a night of the last 30 (median)', median(calls.slice(-30)), 'calls'),
        row('livehouse status', statusMs, 'ms'),
        row('the first page of a status server', await timed(() => readPage(db, clock)), 'ms'),
        ...(await readSizes(db)),
      ]
    } finally {
      await db.destroy()
    }
  },
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const beganAtMs = systemClock.now()
  await work()
  return systemClock.now() - beganAtMs
}

async function readSizes(db: Kysely<Database>): Promise<readonly Measure[]> {
  const megabytes = sql<number>`sum(pg_total_relation_size(oid)) / 1e6::float8`
  const { rows } = await sql<{ schema: string; size: number }>`
    select relnamespace::regnamespace::text as schema, ${megabytes} as size from pg_class
    where relkind = 'r' and relnamespace in ('livehouse'::regnamespace, 'livehouse_ops'::regnamespace)
    group by schema order by schema`.execute(db)
  const sizes = rows.map(({ schema, size }): Measure => ({ name: `schema ${schema}`, value: size, unit: 'MB' }))
  const counts: Measure[] = []
  for (const table of ['slices', 'runs']) {
    const found = await sql<{ count: number }>`
      select count(*)::float8 as count from ${sql.table(`livehouse_ops.${table}`)}`.execute(db)
    counts.push({ name: `rows of livehouse_ops.${table}`, value: found.rows[0]?.count ?? 0, unit: 'rows' })
  }
  return [...sizes, ...counts]
}
