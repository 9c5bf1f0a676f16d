import { deepStrictEqual } from 'node:assert'
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import { createRandom } from '../../src/emulator/world/random.ts'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
import type { Database } from '../../src/store/database.ts'
import { startEmbedded, stopEmbedded } from '../../src/store/embedded.ts'
import { migrateUp } from '../../src/store/migrate.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { streams } from '../../src/streams/registry.ts'
import { createPassableFolder } from '../../test/helpers/operating-system.ts'
import { readStreamTable, sorted } from '../../test/helpers/read-table.ts'
import { environmentOf } from '../../test/helpers/run-verb.ts'
import { startStallingProxy } from '../../test/helpers/stalling-proxy.ts'
import { atMost, type Measure } from '../lib/measures.mts'
import { runProgram } from '../lib/run-program.mts'
import type { Bench, Scenario } from '../lib/scenario.mts'
import { startWorker, type Worker } from '../lib/worker.mts'

const WORKERS = 3
const MISHAPS = 5
/** A worker that is frozen or cut off for longer than a lease lives comes back as one that has lost it. */
const LONGEST_MS = 60_000
/** After the mishaps of one, the next bring what they cost. */
const MOST_RUNS = 4
const never = new AbortController().signal

/** Whether workers that are killed, frozen and cut off, and a database that restarts, leave what one quiet run would have. */
export const chaos: Scenario = {
  letter: 'chaos',
  title: `${WORKERS} workers, ${MISHAPS} mishaps a round: killed, frozen, cut off, the database restarted (--rounds N)`,
  run: async (bench) => {
    const rounds = bench.isQuick ? 1 : bench.rounds
    const seed = Math.floor(Math.random() * 2 ** 31)
    let different = 0
    for (let round = 0; round < rounds; round++) {
      const label = `${seed}/${round}`
      const difference = await playRound(bench, label)
      bench.say(`round ${label}: ${difference ?? 'equal to the service'}`)
      if (difference !== undefined) different++
    }
    const measures: readonly Measure[] = [
      { name: `mishaps in ${rounds} rounds, seed ${seed}`, value: rounds * MISHAPS, unit: '' },
      {
        name: 'rounds after which the tables were not those of the service',
        value: different,
        unit: '',
        goal: atMost(0),
      },
    ]
    return measures
  },
}

/** @returns what is wrong at its end; undefined when nothing is */
async function playRound(bench: Bench, label: string): Promise<string | undefined> {
  const random = createRandom('chaos', label)
  const folder = await createPassableFolder('chaos')
  const server = await startEmbedded(folder, systemClock, bench.signal)
  await using emulator = await startEmulator({ channels: 4, viewers: 150, conditions: { latencyMs: 150 } })
  const url = server.url('livehouse')
  const environment = { ...environmentOf(emulator, { url }), LIVEHOUSE_CONCURRENCY: '2', LOG_LEVEL: 'error' }
  const machines: Machine[] = []
  const sync = async () => {
    const accepted = [0, 1, 3, 143]
    const { code } = await runProgram(['src/cli.ts', 'sync', '--queue'], {
      signal: bench.signal,
      env: environment,
      accepted,
    })
    return code
  }
  try {
    await createWarehouse(server.url('postgres'), url)
    for (let number = 0; number < WORKERS; number++) machines.push(await startMachine(bench, environment))
    const first = sync()
    const over: Promise<void>[] = []
    for (let number = 0; number < MISHAPS; number++) {
      await delay(random.between(0, 1500))
      change(emulator)
      const machine = machines[random.between(0, WORKERS - 1)]
      const forMs = random.between(0, LONGEST_MS)
      const kind = random.between(0, 3)
      if (kind === 0) {
        await stopEmbedded(folder, never)
        await startEmbedded(folder, systemClock, bench.signal)
      } else if (kind === 1) await machine?.replace()
      else if (machine) over.push(kind === 2 ? machine.freeze(forMs) : machine.cut(forMs))
    }
    await Promise.all(over)
    const codes = [await first]
    while (codes.length < MOST_RUNS && (codes.length === 1 || codes.at(-1) !== 0)) codes.push(await sync())
    if (codes.at(-1) !== 0) return `exit codes ${codes.join(', ')}`
    await using db = await openDatabase(url)
    return await compare(db, emulator)
  } finally {
    for (const machine of machines) await machine.end()
    await stopEmbedded(folder, never)
    await rm(folder, { recursive: true, force: true })
  }
}

/** A worker whose way to the database can be cut. */
interface Machine {
  /** Kills it, and starts another. */
  readonly replace: () => Promise<void>
  readonly freeze: (ms: number) => Promise<void>
  readonly cut: (ms: number) => Promise<void>
  readonly end: () => Promise<void>
}

async function startMachine(bench: Bench, environment: Readonly<Record<string, string>>): Promise<Machine> {
  const way = await startStallingProxy(environment.DATABASE_URL ?? '')
  const start = () => startWorker({ signal: bench.signal, env: { ...environment, DATABASE_URL: way.url } }, 3)
  let worker: Worker = await start()
  const kill = async ({ process, ended }: Worker) => {
    process.kill('SIGCONT')
    process.kill('SIGKILL')
    await ended.catch(() => {})
  }
  return {
    replace: async () => {
      await kill(worker)
      // While its way is cut, or the database is away, it does not start.
      worker = await start().catch(() => worker)
    },
    freeze: async (ms) => {
      const { process } = worker
      process.kill('SIGSTOP')
      await delay(ms)
      process.kill('SIGCONT')
    },
    cut: async (ms) => {
      way.stall()
      await delay(ms)
      way.goOn()
    },
    end: async () => {
      await kill(worker)
      await way[Symbol.asyncDispose]()
    },
  }
}

async function createWarehouse(adminUrl: string, url: string): Promise<void> {
  await using admin = await openDatabase(adminUrl, { maxConnections: 1 })
  await sql`create database livehouse`.execute(admin)
  await using db = await openDatabase(url, { maxConnections: 1 })
  await migrateUp(db)
}

/** What a worker still has in hand is older than what the service has now. */
function change({ world }: Emulator): void {
  for (const { visitors } of world.channels.values()) {
    const [visitor] = visitors.rows
    if (visitor !== undefined) visitors.replace(visitor, { ...visitor, nick: `${visitor.nick}+` })
  }
}

async function compare(db: Kysely<Database>, emulator: Emulator): Promise<string | undefined> {
  const truth = emulator.truth()
  for (const { name } of streams) {
    try {
      deepStrictEqual(sorted(await readStreamTable(db, name)), sorted(truth[name] ?? []))
    } catch (error) {
      return `${name}: ${String(error).slice(0, 500)}`
    }
  }
  return undefined
}
