import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { formatMeasures, isMet, type Measure } from './lib/measures.mts'
import type { Bench, Scenario } from './lib/scenario.mts'
import { openServer } from './lib/warehouse.mts'
import { again } from './scenarios/again.mts'
import { calls } from './scenarios/calls.mts'
import { chaos } from './scenarios/chaos.mts'
import { endToEnd } from './scenarios/end-to-end.mts'
import { hiddenLimit } from './scenarios/hidden-limit.mts'
import { keptDays } from './scenarios/kept-days.mts'
import { latency } from './scenarios/latency.mts'
import { machines } from './scenarios/machines.mts'
import { manyPartitions, memoryAndGrowth } from './scenarios/memory-and-growth.mts'
import { planning } from './scenarios/planning.mts'
import { startUp } from './scenarios/start-up.mts'
import { year } from './scenarios/year.mts'

/**
 * `npm run bench` measures how fast and polite livehouse is, and whether its memory and time per row stay flat.
 * Emulator, embedded PostgreSQL and program are separate processes on loopback. Figures are ratios where possible.
 */

const scenarios: readonly Scenario[] = [
  endToEnd,
  again,
  latency,
  hiddenLimit,
  calls,
  memoryAndGrowth,
  startUp,
  manyPartitions,
  planning,
  keptDays,
  machines,
]
/** Long scenarios, which run only if they are named. */
const named: readonly Scenario[] = [chaos, year]

const usage = `npm run bench -- [--only a,b] [--quick] [--rows N] [--rounds N] [--nights N] [--json]

${[...scenarios, ...named].map(({ letter, title }) => `  ${letter}  ${title}`).join('\n')}

  --only a,b  runs only these scenarios
  --quick     runs each once with small sizes, to see whether everything works
  --rounds N  rounds of chaos (default 10, about four minutes each)
  --seed N    seed of the first round of chaos; the next rounds count up from it (default: random)
  --rows N    the largest size (default 3000000); scenarios leave out larger ones
  --nights N  simulated nights (default 365)
  --json      prints one JSON object instead of tables
`

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    rows: { type: 'string', default: '3000000' },
    nights: { type: 'string', default: '365' },
    rounds: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const letters = values.only?.split(',')
const unknown =
  letters?.filter((letter) => ![...scenarios, ...named].some((scenario) => scenario.letter === letter)) ?? []

if (values.help || unknown.length > 0 || !/^\d+$/.test(values.rows + values.nights + values.rounds + values.seed)) {
  process.stderr.write(usage)
  process.exitCode = values.help ? 0 : 2
} else {
  const chosen = letters ? [...scenarios, ...named].filter(({ letter }) => letters.includes(letter)) : scenarios
  await main(chosen)
}

interface Result {
  readonly letter: string
  readonly title: string
  readonly measures: readonly Measure[]
}

async function main(chosen: readonly Scenario[]): Promise<void> {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(name)))
  const folder = await mkdtemp(join(tmpdir(), 'livehouse-bench-files-'))
  const results: Result[] = []
  try {
    await using server = await openServer(stop.signal)
    const say = (line: string) => void process.stderr.write(`  ${line}\n`)
    const bench: Bench = {
      server,
      signal: stop.signal,
      isQuick: values.quick,
      rows: Number(values.rows),
      nights: Number(values.nights),
      rounds: Number(values.rounds),
      seed: Number(values.seed),
      folder,
      say,
    }
    for (const { letter, title, run } of chosen) {
      process.stderr.write(`${letter}) ${title}\n`)
      const measures = await run(bench)
      await server.clear()
      results.push({ letter, title, measures })
      if (!values.json) process.stdout.write(`\n${letter}) ${title}\n${formatMeasures(measures)}\n\n`)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  if (values.json) process.stdout.write(`${JSON.stringify({ ...machine(), results: results.map(withVerdicts) })}\n`)
}

function machine() {
  return {
    date: new Date().toISOString(),
    version: manifest.version,
    node: process.version,
    cpu: cpus()[0]?.model ?? '',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
  }
}

function withVerdicts(result: Result) {
  return { ...result, measures: result.measures.map((measure) => ({ ...measure, isMet: isMet(measure) ?? null })) }
}
