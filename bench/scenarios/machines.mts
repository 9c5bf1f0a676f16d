import type { ChildProcess } from 'node:child_process'
import { on } from 'node:events'
import { openEmulator } from '../lib/emulator.mts'
import { atLeast, type Measure } from '../lib/measures.mts'
import { type Bench, databaseName, type Outcome, programOptions, type Scenario } from '../lib/scenario.mts'
import { runProgram } from '../lib/run-program.mts'

const LATENCY_MS = 50
/** Of a worker: so few that two cores can carry eight of them, the service and the database. */
const CONCURRENCY = 2
const CHANNELS_A_WORKER = 16

/** Whether workers add up: each has as much to read as one alone would. Processes of one machine, on loopback. */
export const machines: Scenario = {
  letter: 'machines',
  title: `1 to 8 workers, ${LATENCY_MS} ms a call, ${CONCURRENCY} at once each: ideal time ÷ real time`,
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
    { world, conditions: { latencyMs: LATENCY_MS }, cacheBytes: 4e9 },
    bench.signal,
  )
  const databaseUrl = await bench.server.fresh(databaseName('machines', workers))
  const env = { LIVEHOUSE_CONCURRENCY: String(CONCURRENCY), LOG_LEVEL: 'info' }
  const options = programOptions(bench, emulator, { databaseUrl, env })
  const children: ChildProcess[] = []
  const working = Array.from({ length: workers }, async () => {
    const onStart = (child: ChildProcess) => void children.push(child)
    return await runProgram(['src/cli.ts', 'worker'], { ...options, onStart, accepted: [143] })
  })
  while (children.length < workers) await new Promise((resolve) => setImmediate(resolve))
  await Promise.all(children.map(untilStarted))
  const run = await runProgram(['src/cli.ts', 'sync', '--queue', '--json', '--streams', 'visitors'], options)
  for (const child of children) child.kill('SIGTERM')
  const peaks = (await Promise.all(working)).map(({ peakMb }) => peakMb)
  const outcome: Outcome = JSON.parse(run.stdout)
  const realMs = Date.parse(outcome.finished_at) - Date.parse(outcome.started_at)
  const idealMs = (CHANNELS_A_WORKER * pages * LATENCY_MS) / CONCURRENCY
  bench.say(
    `${workers} workers: ${outcome.status}, ${(realMs / 1000).toFixed(1)} s, ${Math.max(...peaks).toFixed(0)} MB at most`,
  )
  const name = `${workers} workers, ${world.channels} channels × ${pages} pages`
  return { name, value: idealMs / realMs, unit: '×', ...(workers === 8 ? { goal: atLeast(0.85) } : {}) }
}

async function untilStarted(child: ChildProcess): Promise<void> {
  if (child.stderr === null) throw new Error('its standard error is piped')
  let heard = ''
  for await (const [text] of on(child.stderr, 'data', { close: ['end'] })) {
    heard += text
    if (heard.includes('worker.started')) return
  }
  throw new Error(`a worker ended too early:\n${heard}`)
}
