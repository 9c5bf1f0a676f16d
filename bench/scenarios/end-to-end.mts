import { join } from 'node:path'
import { openEmulator } from '../lib/emulator.mts'
import { atLeast, atMost, type Measure, median } from '../lib/measures.mts'
import { runProgram } from '../lib/run-program.mts'
import {
  type Bench,
  cpuPerRow,
  databaseName,
  type MeasuredRun,
  measureSync,
  programOptions,
  type Scenario,
} from '../lib/scenario.mts'
import { copyRows, saveRows } from '../lib/warehouse.mts'

const CHANNELS = 10
const TABLE = 'livehouse.visitors'

/** a) and f): a first load, compared with a plain COPY of the same rows and with the loop that a team would write. */
export const endToEnd: Scenario = {
  letter: 'a',
  title: 'first load of 10 channels, compared with COPY and with a hand-written loop; CPU by process',
  run: async (bench) => {
    const measures: Measure[] = []
    const sizes = bench.isQuick ? [2000] : [100_000, 1_000_000].filter((rows) => rows <= bench.rows)
    for (const rows of sizes) measures.push(...(await loadRows(bench, rows)))
    return measures
  },
}

interface Round {
  readonly sync: MeasuredRun
  readonly copyMs: number
  readonly loopMs: number | undefined
}

async function loadRows(bench: Bench, rows: number): Promise<readonly Measure[]> {
  const { server, signal, folder, say } = bench
  const world = { channels: CHANNELS, visitors: rows / CHANNELS, isWhole: false }
  await using emulator = await openEmulator({ world }, signal)
  await emulator.warm()
  const name = databaseName('end-to-end', rows)
  const file = join(folder, `${name}.copy`)
  const rounds: Round[] = []
  const isLarge = rows > 200_000
  const repetitions = bench.isQuick ? 1 : isLarge ? 3 : 5
  for (let round = 0; round < repetitions; round += 1) {
    const url = await server.fresh(name)
    const sync = await measureSync(bench, emulator, { databaseUrl: url, streams: 'visitors' })
    requireRows(sync, rows)
    if (round === 0) await saveRows(url, TABLE, file)
    const copyMs = await copyRows(await server.fresh(name), TABLE, file)
    // The loop takes a minute for a million rows: one run is enough to tell a factor of four from three.
    const loopMs = isLarge && round > 0 ? undefined : await runLoop(bench, emulator, await server.fresh(name))
    say(
      `${rows} rows: sync ${seconds(sync.wallMs)}, COPY ${seconds(copyMs)}${loopMs ? `, loop ${seconds(loopMs)}` : ''}`,
    )
    rounds.push({ sync, copyMs, loopMs })
  }
  return describe(bench, rows, rounds)
}

async function runLoop(
  bench: Bench,
  emulator: Parameters<typeof programOptions>[1],
  databaseUrl: string,
): Promise<number> {
  const { wallMs } = await runProgram(['bench/loop.mts'], programOptions(bench, emulator, { databaseUrl }))
  return wallMs
}

function describe(bench: Bench, rows: number, rounds: readonly Round[]): readonly Measure[] {
  const of = (read: (round: Round) => number) => median(rounds.map(read))
  const title = (what: string) => `${rows.toLocaleString('en')} rows: ${what}`
  const perRow = (us: number) => us / rows
  const loops = rounds.flatMap(({ sync, loopMs }) => (loopMs === undefined ? [] : [loopMs / sync.wallMs]))
  const overCopy = of(({ sync, copyMs }) => sync.wallMs / copyMs)
  const isLarge = rows >= 1_000_000
  return [
    { name: title('wall, process start included'), value: of(({ sync }) => sync.wallMs / 1000), unit: 's' },
    { name: title('COPY of the same rows'), value: of(({ copyMs }) => copyMs / 1000), unit: 's' },
    isLarge
      ? { name: title('share of the rate of COPY'), value: 1 / overCopy, unit: '×', goal: atLeast(0.45) }
      : {
          name: title('wall ÷ wall of COPY'),
          value: overCopy,
          unit: '×',
          ...(bench.isQuick ? {} : { goal: atMost(5) }),
        },
    {
      name: title('wall of the loop ÷ wall'),
      value: median(loops),
      unit: '×',
      ...(isLarge ? { goal: atLeast(4) } : {}),
    },
    {
      name: title('CPU, all processes'),
      value: of(({ sync }) => cpuPerRow(sync, rows)),
      unit: 'µs/row',
      ...(isLarge ? { goal: atMost(18) } : {}),
    },
    { name: title('CPU, livehouse'), value: of(({ sync }) => perRow(sync.cpuUs)), unit: 'µs/row' },
    {
      name: title('CPU, PostgreSQL'),
      value: of(({ sync }) => perRow(sync.database.cpuUs ?? Number.NaN)),
      unit: 'µs/row',
    },
    { name: title('CPU, emulator'), value: of(({ sync }) => perRow(sync.emulatorCpuUs)), unit: 'µs/row' },
    { name: title('WAL'), value: of(({ sync }) => sync.database.walBytes / rows), unit: 'B/row' },
    { name: title('peak memory of livehouse'), value: of(({ sync }) => sync.peakMb), unit: 'MB' },
    { name: title('calls ÷ pages'), value: of(({ sync }) => sync.calls / Math.ceil(rows / 100)), unit: '×' },
  ]
}

function requireRows({ outcome }: MeasuredRun, rows: number): void {
  const inserted = outcome.streams.visitors?.inserted
  if (outcome.status !== 'ok' || inserted !== rows) {
    throw new Error(`sync ended ${outcome.status} with ${inserted} of ${rows} rows: ${JSON.stringify(outcome)}`)
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
