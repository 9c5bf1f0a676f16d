import { openEmulator } from '../lib/emulator.mts'
import { atMost, type Measure, median } from '../lib/measures.mts'
import { type Bench, cpuPerRow, databaseName, type MeasuredRun, measureSync, type Scenario } from '../lib/scenario.mts'
import { dropNoting } from '../../src/bi/views/note-changes.ts'
import { publishBi } from '../../src/bi/publish/publish-bi.ts'
import { sql } from 'kysely'

const CHANNELS = 20
const STREAM = 'watch_records'

/** k): what a first load of watch records costs with the figures of days and channels kept, beside one that notes and keeps none. */
export const keptDays: Scenario = {
  letter: 'k',
  title: 'a first load of watch records with the days of channels kept ÷ without',
  run: async (bench) => {
    const world = { channels: CHANNELS, visitors: bench.isQuick ? 50 : 3000, isWhole: true }
    await using emulator = await openEmulator({ world, cacheBytes: 4e9 }, bench.signal)
    const load = async (keeps: boolean): Promise<MeasuredRun> => {
      const databaseUrl = await bench.server.fresh(databaseName('kept-days'))
      const db = await bench.server.open(databaseUrl)
      await publishBi(db)
      if (!keeps) await sql.raw(dropNoting.join('; ')).execute(db)
      await db.destroy()
      return await measureSync(bench, emulator, { databaseUrl, streams: STREAM })
    }
    // So that its answers come out of the emulator's cache.
    await load(true)
    const pairs: { readonly without: MeasuredRun; readonly kept: MeasuredRun }[] = []
    for (let round = 0; round < (bench.isQuick ? 1 : 5); round += 1) {
      const pair = { without: await load(false), kept: await load(true) }
      const rows = rowsOf(pair.kept)
      const perRow = (run: MeasuredRun) => `${cpuPerRow(run, rows).toFixed(1)} µs`
      bench.say(`${rows} rows: ${perRow(pair.without)} a row without, ${perRow(pair.kept)} with days kept`)
      pairs.push(pair)
    }
    return describe(bench, pairs)
  },
}

function describe(
  bench: Bench,
  pairs: readonly { readonly without: MeasuredRun; readonly kept: MeasuredRun }[],
): readonly Measure[] {
  const rows = rowsOf(pairs[0]?.kept)
  const title = (what: string) => `${rows.toLocaleString('en')} rows of ${CHANNELS} channels: ${what}`
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
      name: title(`${name}, kept ÷ without`),
      value: median(pairs.map(({ without, kept }) => of(kept) / of(without))),
      unit: '×',
      ...(bench.isQuick ? {} : { goal: atMost(1.1) }),
    },
  ])
}

function rowsOf(run: MeasuredRun | undefined): number {
  return run?.outcome.streams[STREAM]?.inserted ?? Number.NaN
}
