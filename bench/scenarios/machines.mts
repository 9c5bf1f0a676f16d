import { type StallingProxy, startStallingProxy } from '../../test/helpers/stalling-proxy.ts'
import { openEmulator } from '../lib/emulator.mts'
import { atLeast, type Measure } from '../lib/measures.mts'
import { type Bench, databaseName, type Outcome, programOptions, type Scenario } from '../lib/scenario.mts'
import { runProgram } from '../lib/run-program.mts'
import { startWorker, type Worker } from '../lib/worker.mts'

const LATENCY_MS = 50
/** There and back, between a worker and what it talks to. */
const WIRE_MS = 20
/** Of a worker: so few that two cores can carry eight of them, the service and the database. */
const CONCURRENCY = 2
const CHANNELS_A_WORKER = 16

/** Whether workers add up: each has as much to read as one alone would. Processes of one machine. */
export const machines: Scenario = {
  letter: 'machines',
  title: `1 to 8 workers, ${WIRE_MS} ms away, ${LATENCY_MS} ms a call, ${CONCURRENCY} at once each: ideal time ÷ real time`,
  run: async (bench) => {
    const measures: Measure[] = []
    for (const workers of bench.isQuick ? [2] : [1, 2, 4, 8]) measures.push(await share(bench, workers))
    return measures
  },
}

async function share(bench: Bench, workers: number): Promise<Measure> {
  const pages = bench.isQuick ? 5 : 40
  const world = { channels: CHANNELS_A_WORKER * workers, visitors: pages * 100 - 1, isWhole: false }
  await using emulator = await openEmulator(
    { world, conditions: { latencyMs: LATENCY_MS + WIRE_MS }, cacheBytes: 4e9 },
    bench.signal,
  )
  const databaseUrl = await bench.server.fresh(databaseName('machines', workers))
  const env = { LIVEHOUSE_CONCURRENCY: String(CONCURRENCY), LOG_LEVEL: 'info' }
  const options = programOptions(bench, emulator, { databaseUrl, env })
  // Each on a wire of its own to the database; the service's answers take as much longer.
  const working: Worker[] = []
  const wires: StallingProxy[] = []
  for (let number = 0; number < workers; number++) {
    const wire = await startStallingProxy(databaseUrl, { delayMs: WIRE_MS / 2 })
    wires.push(wire)
    working.push(await startWorker({ ...options, env: { ...options.env, DATABASE_URL: wire.url } }, 8))
  }
  const run = await runProgram(['src/cli.ts', 'sync', '--queue', '--json', '--streams', 'visitors'], options)
  for (const { process } of working) process.kill('SIGTERM')
  const peaks = (await Promise.all(working.map(({ ended }) => ended))).map(({ peakMb }) => peakMb)
  for (const wire of wires) await wire[Symbol.asyncDispose]()
  const outcome: Outcome = JSON.parse(run.stdout)
  const realMs = Date.parse(outcome.finished_at) - Date.parse(outcome.started_at)
  const idealMs = (CHANNELS_A_WORKER * pages * (LATENCY_MS + WIRE_MS)) / CONCURRENCY
  bench.say(
    `${workers} workers: ${outcome.status}, ${(realMs / 1000).toFixed(1)} s, ${Math.max(...peaks).toFixed(0)} MB at most`,
  )
  const name = `${workers} workers, ${world.channels} channels × ${pages} pages`
  return { name, value: idealMs / realMs, unit: '×', ...(workers === 8 ? { goal: atLeast(0.85) } : {}) }
}
