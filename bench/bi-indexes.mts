import { readFileSync } from 'node:fs'
import { type Kysely, sql } from 'kysely'
import { publishBi } from '../src/bi/publish/publish-bi.ts'
import { refreshFigures } from '../src/bi/publish/refresh-figures.ts'
import type { Row } from '../src/core/column.ts'
import type { Database } from '../src/store/database.ts'
import { loadRows, prepareToLoad } from '../src/store/load/load.ts'
import { migrateUp } from '../src/store/migrate.ts'
import { watchRecords } from '../src/streams/watch-records.ts'
import { withScratchDatabase } from './lib/scratch-database.mts'

/**
 * `npm run bench:bi-indexes` measures what the analysts' indexes on watch records, and stored figures of days, cost the
 * loader: the server's CPU time for 100,000 records, in turns without indexes, with each, with all, with changed days
 * noted, and with these also computed. Prints the median of the rounds (7, or the argument). Linux only.
 */

const ROUNDS = Number(process.argv[2] ?? 7)
const BATCHES = 100
const BATCH = 1000
const TICK_MS = 10
const names = [
  'watch_records_viewer',
  'watch_records_day_channel',
  'watch_records_entered',
  'watch_records_overnight',
] as const
const [NOTED, COMPUTED] = ['changed days noted', 'figures of days computed']
const choices: readonly (readonly string[])[] = [
  [],
  ...names.map((name) => [name]),
  names,
  [...names, NOTED],
  [...names, NOTED, COMPUTED],
]
const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(name)))

/** Ten evenings of one of twenty channels, 100 records each, like a slice of a backfill; one in six passes midnight. */
function batchOf(number: number): readonly Row[] {
  return Array.from({ length: BATCH }, (_, index) => {
    const n = number * BATCH + index
    const day = Math.floor(number / 20) * 10 + Math.floor(index / 100)
    const enteredMs = Date.UTC(2024, 0, 1 + day, 11) + ((n * 1299709) % 18_000) * 1000
    const text = (ms: number) => new Date(ms + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
    return {
      channel_id: `${number % 20}`,
      record_id: `${n}`,
      user_id: `u${(n * 7919) % 20_000}`,
      assign_id: null,
      outer_id: null,
      nickname: '浙江省网友',
      address: '浙江杭州',
      phone: '13812341234',
      device: '移动端',
      browser: '微信',
      access_source: '直接访问',
      online_seconds: 3000,
      watch_seconds: 2000,
      live_seconds: 1000,
      vod_seconds: 1000,
      entered_at: text(enteredMs),
      left_at: text(enteredMs + 3_000_000),
      api_version: 2,
      extra: null,
    }
  })
}

async function load(db: Kysely<Database>, batches: readonly (readonly Row[])[], isComputed: boolean): Promise<number> {
  return await db.connection().execute(async (connection) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(connection)
    const cpuMs = (): number => {
      const fields = readFileSync(`/proc/${rows[0]?.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS
    }
    const before = cpuMs()
    for (const batch of batches) {
      stop.signal.throwIfAborted()
      await connection.transaction().execute(async (transaction) => {
        await prepareToLoad(transaction, 'Asia/Shanghai')
        await loadRows(transaction, watchRecords, batch, '1')
      })
    }
    if (isComputed) await refreshFigures(connection)
    return cpuMs() - before
  })
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

await withScratchDatabase(stop.signal, async (db) => {
  await migrateUp(db)
  await publishBi(db)
  const { rows: indexes } = await sql<{ name: string; definition: string }>`
    select indexname as name, indexdef as definition from pg_indexes where indexname = any (${[...names]}::text[])`.execute(
    db,
  )
  const batches = Array.from({ length: BATCHES }, (_, number) => batchOf(number))
  const times = choices.map((): number[] => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, choice] of choices.entries()) {
      for (const name of names) await sql`drop index if exists ${sql.table(`livehouse.${name}`)}`.execute(db)
      await sql`truncate livehouse.watch_records`.execute(db)
      for (const { name, definition } of indexes) if (choice.includes(name)) await sql.raw(definition).execute(db)
      await sql`checkpoint`.execute(db)
      const noting = sql.raw(choice.includes(NOTED) ? 'enable' : 'disable')
      await sql`alter table livehouse.watch_records ${noting} trigger user`.execute(db)
      times[index]?.push(await load(db, batches, choice.includes(COMPUTED)))
    }
  }
  const plain = medianOf(times[0] ?? [])
  for (const [index, choice] of choices.entries()) {
    const ms = medianOf(times[index] ?? [])
    const more = Math.round((ms / plain - 1) * 100)
    process.stdout.write(
      `${String(ms).padStart(6)} ms  ${more >= 0 ? '+' : ''}${more} %  ${choice.join(', ') || 'without'}\n`,
    )
  }
})
