import { sql } from 'kysely'
import { publishBi } from '../../src/bi/publish/publish-bi.ts'
import { dropChangeTriggers } from '../../src/bi/views/change-triggers.ts'
import { type BenchEmulator, openEmulator } from '../lib/emulator.mts'
import { atMost, type Measure, median } from '../lib/measures.mts'
import { type Bench, cpuPerRow, databaseName, type MeasuredRun, measureSync, type Scenario } from '../lib/scenario.mts'

const CHANNELS = 20
/** Without a ceiling, and at the default ceiling. */
const LOADS = [
  { stream: 'watch_records', ceiling: '0' },
  { stream: 'visitors', ceiling: '0' },
  { stream: 'watch_records', ceiling: '20' },
  { stream: 'visitors', ceiling: '20' },
] as const
type Load = (typeof LOADS)[number]

/** k): the cost of a first load that stores figures of days, persons and channels, compared with one that does not. */
export const keptDays: Scenario = {
  letter: 'k',
  title: 'a first load with stored figures ÷ without',
  run: async (bench) => {
    const world = { channels: CHANNELS, visitors: bench.isQuick ? 50 : 3000, isWhole: true }
    await using emulator = await openEmulator({ world }, bench.signal)
    const measures: Measure[] = []
    for (const load of LOADS) measures.push(...describe(bench, load, await measurePairs(bench, emulator, load)))
    return measures
  },
}

interface Pair {
  readonly without: MeasuredRun
  readonly kept: MeasuredRun
}

async function measurePairs(
  bench: Bench,
  emulator: BenchEmulator,
  { stream, ceiling }: Load,
): Promise<readonly Pair[]> {
  const env = { LIVEHOUSE_MAX_CALLS_PER_SECOND: ceiling }
  const load = async (storesFigures: boolean): Promise<MeasuredRun> => {
    const databaseUrl = await bench.server.fresh(databaseName('kept-days'))
    const db = await bench.server.open(databaseUrl)
    await publishBi(db)
    if (!storesFigures) await sql.raw(dropChangeTriggers.join('; ')).execute(db)
    await db.destroy()
    return await measureSync(bench, emulator, { databaseUrl, streams: stream, env })
  }
  // Warms the emulator's cache.
  if (ceiling === '0') await load(true)
  const pairs: Pair[] = []
  for (let round = 0; round < (bench.isQuick ? 1 : 5); round += 1) {
    const pair = { without: await load(false), kept: await load(true) }
    const rows = rowsOf(pair.kept, stream)
    const perRow = (run: MeasuredRun) => {
      const server = (run.database.cpuUs ?? Number.NaN) / rows
      return `${(run.cpuUs / rows + server).toFixed(1)} µs (PostgreSQL ${server.toFixed(1)})`
    }
    bench.say(
      `${rows} rows of ${stream}, ceiling ${ceiling}: ${perRow(pair.without)} a row without, ${perRow(pair.kept)} with stored figures`,
    )
    pairs.push(pair)
  }
  return pairs
}

function describe(bench: Bench, { stream, ceiling }: Load, pairs: readonly Pair[]): readonly Measure[] {
  const rows = rowsOf(pairs[0]?.kept, stream)
  const rate = ceiling === '0' ? 'no ceiling' : `${ceiling} calls a second`
  const title = (what: string) => `${rows.toLocaleString('en')} ${stream} of ${CHANNELS} channels, ${rate}: ${what}`
  const parts: Readonly<Record<string, (run: MeasuredRun) => number>> = {
    'CPU, all processes': (run) => cpuPerRow(run, rows),
    'CPU, livehouse': (run) => run.cpuUs / rows,
    'CPU, PostgreSQL': (run) => (run.database.cpuUs ?? Number.NaN) / rows,
    'CPU, livehouse and PostgreSQL': (run) => (run.cpuUs + (run.database.cpuUs ?? Number.NaN)) / rows,
    wall: (run) => (run.wallMs * 1000) / rows,
  }
  return Object.entries(parts).flatMap(([name, of]): Measure[] => [
    { name: title(`${name}, without`), value: median(pairs.map(({ without }) => of(without))), unit: 'µs/row' },
    {
      name: title(`${name}, with ÷ without`),
      value: median(pairs.map(({ without, kept }) => of(kept) / of(without))),
      unit: '×',
      ...(bench.isQuick ? {} : { goal: atMost(1.1) }),
    },
  ])
}

function rowsOf(run: MeasuredRun | undefined, stream: string): number {
  return run?.outcome.streams[stream]?.inserted ?? Number.NaN
}
