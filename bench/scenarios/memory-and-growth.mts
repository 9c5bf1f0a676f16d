import { openEmulator } from '../lib/emulator.mts'
import { atMost, type Measure, median } from '../lib/measures.mts'
import { type Bench, cpuPerRow, databaseName, type MeasuredRun, measureSync, type Scenario } from '../lib/scenario.mts'

const CHANNELS = 10
const SIZES = [100_000, 300_000, 1_000_000, 3_000_000]

interface Sized {
  readonly rows: number
  readonly run: MeasuredRun
}

/** g): whether memory, and time per row, stay flat while the number of rows grows. */
export const memoryAndGrowth: Scenario = {
  letter: 'g',
  title: 'peak memory and time per row at 100,000 to 3,000,000 rows',
  run: async (bench) => {
    const sized: Sized[] = []
    const sizes = bench.isQuick ? [2000, 4000] : SIZES.filter((rows) => rows <= bench.rows)
    for (const rows of sizes) sized.push({ rows, run: await load(bench, CHANNELS, rows / CHANNELS) })
    const largest = sizes.at(-1) ?? 0
    const one = await load(bench, 1, largest)
    return [
      ...sized.flatMap(({ rows, run }) => describe(rows, run)),
      { name: `${format(largest)} rows in one channel: peak memory`, value: one.peakMb, unit: 'MB', goal: atMost(200) },
      ...growth(sized),
    ]
  },
}

/** i): many small partitions, compared with one big one. */
export const manyPartitions: Scenario = {
  letter: 'i',
  title: 'many small channels, compared with one big one',
  run: async (bench) => {
    const channels = bench.isQuick ? 20 : 1000
    const small: number[] = []
    const big: number[] = []
    for (let round = 0; round < (bench.isQuick ? 1 : 3); round += 1) {
      small.push(perCall(await load(bench, channels, 100)))
      big.push(perCall(await load(bench, 1, channels * 100)))
    }
    return [
      { name: `${format(channels)} channels of 100 rows: time a call`, value: median(small), unit: 'ms' },
      { name: `one channel of ${format(channels * 100)} rows: time a call`, value: median(big), unit: 'ms' },
      {
        name: 'time a call, small ÷ big',
        value: median(small.map((value, index) => value / (big[index] ?? Number.NaN))),
        unit: '×',
        goal: atMost(2),
      },
    ]
  },
}

async function load(bench: Bench, channels: number, visitors: number): Promise<MeasuredRun> {
  const rows = channels * visitors
  const world = { channels, visitors, isWhole: false }
  await using emulator = await openEmulator({ world }, bench.signal)
  await emulator.warm()
  const databaseUrl = await bench.server.fresh(databaseName('growth'))
  const run = await measureSync(bench, emulator, { databaseUrl, streams: 'visitors' })
  bench.say(
    `${format(channels)} × ${format(visitors)} rows: ${(run.wallMs / 1000).toFixed(2)} s, ${run.peakMb.toFixed(0)} MB`,
  )
  const inserted = run.outcome.streams.visitors?.inserted
  if (inserted !== rows) throw new Error(`${inserted} of ${rows} rows arrived`)
  return run
}

function describe(rows: number, run: MeasuredRun): readonly Measure[] {
  return [
    {
      name: `${format(rows)} rows: peak memory`,
      value: run.peakMb,
      unit: 'MB',
      ...(rows >= 3_000_000 ? { goal: atMost(200) } : {}),
    },
    { name: `${format(rows)} rows: wall`, value: (run.wallMs * 1000) / rows, unit: 'µs/row' },
    { name: `${format(rows)} rows: CPU, all processes`, value: cpuPerRow(run, rows), unit: 'µs/row' },
  ]
}

function growth(sized: readonly Sized[]): readonly Measure[] {
  const of = (rows: number) => sized.find((each) => each.rows === rows)?.run
  const [small, middle, large] = [of(100_000), of(300_000), of(3_000_000)]
  if (!small || !middle || !large) return []
  return [
    {
      name: 'peak memory at 3,000,000 ÷ at 300,000 rows',
      value: large.peakMb / middle.peakMb,
      unit: '×',
      goal: atMost(1.1),
    },
    {
      name: 'wall a row at 3,000,000 ÷ at 100,000 rows',
      value: large.wallMs / 30 / small.wallMs,
      unit: '×',
      goal: atMost(1.15),
    },
  ]
}

function perCall({ wallMs, calls }: MeasuredRun): number {
  return wallMs / calls
}

function format(number: number): string {
  return number.toLocaleString('en')
}
