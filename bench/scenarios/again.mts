import { join } from 'node:path'
import { openEmulator } from '../lib/emulator.mts'
import { atMost, type Measure, median } from '../lib/measures.mts'
import { type Bench, databaseName, type MeasuredRun, measureSync, type Scenario } from '../lib/scenario.mts'
import { copyRows, readTable, saveRows } from '../lib/warehouse.mts'

const CHANNELS = 10
const TABLE = 'livehouse.visitors'
const CHANGED = 0.01

/** b): a repeated sync, with nothing changed and with one row in a hundred changed. */
export const again: Scenario = {
  letter: 'b',
  title: 'a repeated sync with nothing changed, and with 1 % changed',
  run: async (bench) => {
    const sizes = bench.isQuick ? [2000] : [100_000, 1_000_000].filter((rows) => rows <= bench.rows)
    const measures: Measure[] = []
    for (const rows of sizes) measures.push(...(await repeat(bench, rows)))
    return measures
  },
}

async function repeat(bench: Bench, rows: number): Promise<readonly Measure[]> {
  const { server, signal, folder, say } = bench
  const world = { channels: CHANNELS, visitors: rows / CHANNELS, isWhole: false }
  await using emulator = await openEmulator({ world }, signal)
  await emulator.warm()
  const name = databaseName('again', rows)
  const file = join(folder, `${name}.copy`)
  const copyName = databaseName('again-copy', rows)
  const url = await server.fresh(name)
  const sync = async () => await measureSync(bench, emulator, { databaseUrl: url, streams: 'visitors' })
  await sync()
  await saveRows(url, TABLE, file)
  // The first sync after a load still writes hint bits; the second is like that of any later night.
  await sync()
  await using db = await server.open(url)
  const before = await readTable(db, TABLE)
  const quiet: (MeasuredRun & { readonly copyMs: number })[] = []
  const isLarge = rows > 200_000
  for (let round = 0; round < (bench.isQuick ? 1 : isLarge ? 2 : 5); round += 1) {
    const copyMs = await copyRows(await server.fresh(copyName), TABLE, file)
    quiet.push({ ...(await sync()), copyMs })
  }
  const dead = (await readTable(db, TABLE)).deadRows - before.deadRows
  const changed = await emulator.change(CHANGED)
  await emulator.warm()
  const after = await sync()
  const updated = after.outcome.streams.visitors?.updated ?? 0
  if (updated !== changed) throw new Error(`${changed} rows changed, and ${updated} were updated`)
  const of = (read: (run: (typeof quiet)[number]) => number) => median(quiet.map(read))
  say(`${rows} rows again: ${(of(({ wallMs }) => wallMs) / 1000).toFixed(2)} s`)
  const title = (what: string) => `${rows.toLocaleString('en')} rows: ${what}`
  const overCopy = of(({ wallMs, copyMs }) => wallMs / copyMs)
  return [
    { name: title('unchanged, rows a second'), value: of(({ wallMs }) => rows / (wallMs / 1000)), unit: 'rows/s' },
    {
      name: title('unchanged, wall ÷ wall of COPY'),
      value: overCopy,
      unit: '×',
      ...(isLarge ? {} : { goal: atMost(4) }),
    },
    { name: title('unchanged, WAL'), value: of((run) => run.database.walBytes / rows), unit: 'B/row', goal: atMost(8) },
    { name: title('unchanged, dead tuples'), value: dead, unit: 'rows', goal: atMost(0) },
    { name: title('1 % changed, rows a second'), value: rows / (after.wallMs / 1000), unit: 'rows/s' },
    { name: title('1 % changed, WAL'), value: after.database.walBytes / rows, unit: 'B/row' },
    {
      name: title('1 % changed, dead tuples'),
      value: (await readTable(db, TABLE)).deadRows - before.deadRows - dead,
      unit: 'rows',
    },
  ]
}
