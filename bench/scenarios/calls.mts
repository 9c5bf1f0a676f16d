import { openEmulator } from '../lib/emulator.mts'
import { atMost, type Measure } from '../lib/measures.mts'
import { type Bench, databaseName, type MeasuredRun, measureSync, type Scenario } from '../lib/scenario.mts'

const PAGE_SIZES: Readonly<Record<string, number>> = { manager_usage: 10, signups: 50 }
/** Streams whose answers report no total. */
const UNCOUNTED = new Set(['gifts'])
const STREAMS = ['visitors', 'watch_records', 'gifts', 'signups']
const ALL = [...STREAMS, 'questionnaires', 'managers', 'manager_usage']

/** e): calls made, compared with the fewest possible. */
export const calls: Scenario = {
  letter: 'e',
  title: 'calls made ÷ fewest possible, for each stream',
  run: async (bench) => [...(await firstLoad(bench)), ...(await quietNight(bench))],
}

async function firstLoad(bench: Bench): Promise<readonly Measure[]> {
  // 45,000 viewers have about 100,000 watch records.
  const world = bench.isQuick
    ? { channels: 1, visitors: 1000, isWhole: true, gifts: 2000, signups: 1000 }
    : { channels: 1, visitors: 45_000, isWhole: true, gifts: 100_000, signups: 100_000 }
  await using emulator = await openEmulator({ world }, bench.signal)
  const measures: Measure[] = []
  for (const stream of STREAMS) {
    const databaseUrl = await bench.server.fresh(databaseName('calls', stream))
    // Signups are read questionnaire by questionnaire.
    const streams = stream === 'signups' ? 'questionnaires,signups' : stream
    const run = await measureSync(bench, emulator, { databaseUrl, streams })
    const rows = run.outcome.streams[stream]?.inserted ?? 0
    const goal = atMost(UNCOUNTED.has(stream) ? 1.12 : 1.03)
    const value = callsOf(run, stream) / Math.ceil(rows / (PAGE_SIZES[stream] ?? 100))
    const name = `${stream}, ${rows.toLocaleString('en')} rows in a channel: calls ÷ fewest`
    measures.push({ name, value, unit: '×', ...(bench.isQuick ? {} : { goal }) })
  }
  return measures
}

/** Channels in which nothing has happened for ten days, as nightly syncs find them. */
async function quietNight(bench: Bench): Promise<readonly Measure[]> {
  const channels = 10
  const world = { channels, visitors: 40, isWhole: true, quietDays: 10 }
  await using emulator = await openEmulator({ world }, bench.signal)
  const databaseUrl = await bench.server.fresh(databaseName('quiet'))
  await measureSync(bench, emulator, { databaseUrl })
  const night = await measureSync(bench, emulator, { databaseUrl })
  return ALL.map((stream) => {
    const slices = night.outcome.streams[stream]?.slices ?? {}
    const partitions = Object.values(slices).reduce((sum, count) => sum + count, 0)
    const name = `${stream}, a quiet night: calls for each partition`
    const value = callsOf(night, stream) / Math.max(1, partitions)
    // 25 managers on pages of 10 take at least three calls.
    return { name, value, unit: '', goal: atMost(stream === 'manager_usage' ? 3 : 2) }
  })
}

function callsOf({ outcome }: MeasuredRun, stream: string): number {
  return outcome.streams[stream]?.calls ?? Number.NaN
}
