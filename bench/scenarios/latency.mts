import { openEmulator } from '../lib/emulator.mts'
import { atLeast, atMost, type Measure, median } from '../lib/measures.mts'
import { type Bench, databaseName, type MeasuredRun, measureSync, type Scenario } from '../lib/scenario.mts'

const LATENCY_MS = 50
const JITTER_MS = 25
const CONCURRENCY = 16
const DEEP_PAGE_MS = 1

/** c): what slow answers cost beyond the wait itself, and what deep pages cost. */
export const latency: Scenario = {
  letter: 'c',
  title: `${LATENCY_MS} ± ${JITTER_MS} ms a call: ideal time ÷ real time at ${CONCURRENCY} calls at once; deep pages that cost more`,
  run: async (bench) => {
    const pages = bench.isQuick ? 100 : 2000
    return [
      ...(await walk(bench, 10, pages / 10)),
      ...(await walk(bench, 1, pages)),
      ...(await walk(bench, pages, 1)),
      ...(await deep(bench)),
    ]
  },
}

async function walk(bench: Bench, channels: number, pages: number): Promise<readonly Measure[]> {
  // The last page is not full, so it ends the list, and no call is needed to look beyond it.
  const world = { channels, visitors: pages * 100 - 1, isWhole: false }
  const options = { world, conditions: { latencyMs: LATENCY_MS, jitterMs: JITTER_MS } }
  await using emulator = await openEmulator(options, bench.signal)
  const rounds: MeasuredRun[] = []
  for (let round = 0; round < (bench.isQuick ? 1 : 3); round += 1) {
    const databaseUrl = await bench.server.fresh(databaseName('latency', channels))
    const env = { LIVEHOUSE_CONCURRENCY: String(CONCURRENCY) }
    rounds.push(await measureSync(bench, emulator, { databaseUrl, streams: 'visitors', env }))
  }
  const idealMs = (channels * pages * LATENCY_MS) / CONCURRENCY
  const of = (read: (run: MeasuredRun) => number) => median(rounds.map(read))
  const title = (what: string) => `${channels.toLocaleString('en')} × ${pages.toLocaleString('en')} pages: ${what}`
  bench.say(title(`${(of(({ wallMs }) => wallMs) / 1000).toFixed(2)} s, ideally ${(idealMs / 1000).toFixed(2)} s`))
  const isMany = channels > 10
  return [
    {
      name: title('ideal time ÷ time of the run'),
      value: of(({ outcome }) => idealMs / (Date.parse(outcome.finished_at) - Date.parse(outcome.started_at))),
      unit: '×',
      ...(isMany ? {} : { goal: atLeast(0.92) }),
    },
    { name: title('the same, process start included'), value: of(({ wallMs }) => idealMs / wallMs), unit: '×' },
    { name: title('calls ÷ pages'), value: of(({ calls }) => calls / (channels * pages)), unit: '×' },
  ]
}

/** Watch records have a time filter, so a long list is cut into short ones; one walk would have to reach deep pages. */
async function deep(bench: Bench): Promise<readonly Measure[]> {
  const world = { channels: 1, visitors: bench.isQuick ? 2000 : 30_000, isWhole: true }
  await using emulator = await openEmulator({ world, conditions: { deepPageMs: DEEP_PAGE_MS } }, bench.signal)
  const databaseUrl = await bench.server.fresh(databaseName('deep'))
  const env = { LIVEHOUSE_CONCURRENCY: String(CONCURRENCY) }
  const run = await measureSync(bench, emulator, { databaseUrl, streams: 'watch_records', env })
  const pages = Math.ceil((run.outcome.streams.watch_records?.inserted ?? 0) / 100)
  const uncutMs = (DEEP_PAGE_MS * pages * (pages - 1)) / 2 / CONCURRENCY
  return [
    {
      name: `each page ${DEEP_PAGE_MS} ms slower than the one before, ${pages} pages: time ÷ what one deep walk would wait`,
      value: run.wallMs / uncutMs,
      unit: '×',
      ...(bench.isQuick ? {} : { goal: atMost(1) }),
    },
  ]
}
