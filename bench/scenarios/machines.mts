import { cpuUsage } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import { type StallingProxy, startStallingProxy } from '../../test/helpers/stalling-proxy.ts'
import { type BenchEmulator, openEmulator } from '../lib/emulator.mts'
import { atLeast, atMost, type Measure } from '../lib/measures.mts'
import { readTreeCpuUs } from '../lib/process-tree.mts'
import { type ProgramRun, runProgram } from '../lib/run-program.mts'
import { type Bench, databaseName, type Outcome, programOptions, type Scenario } from '../lib/scenario.mts'
import { holderOf, startWorker, type Worker } from '../lib/worker.mts'
import { describe, firstCall, formatSecond, secondsFrom } from './hidden-limit.mts'

const LATENCY_MS = 50
/** The round trip between a worker and the service or the database. */
const WIRE_MS = 20
/** The round trip to the service is part of the latency; to the database, each worker has a delaying proxy. */
const conditions = { latencyMs: LATENCY_MS + WIRE_MS }
/** Simultaneous calls of a worker. */
const CONCURRENCY = 2
/**
 * The same where throughput should grow with the workers. A call costs 10 ms of CPU, mostly in the worker: with one
 * call of 70 ms at a time, eight workers use 1.2 of two cores; with two calls, 2.3.
 */
const SHARE_CONCURRENCY = 1
/** Partitions that a worker reads at once. */
const PARTITIONS = 8
const CHANNELS_A_WORKER = 16
const MOST_WORKERS = 8
const LIMIT = 100
const LIMITED_SECONDS = 40
/** Runs that need the calls of version 1 at the same time. */
const HOLDERS = 4
/** Each needs at least one of these calls. */
const OLD_CHANNELS = 20
const V1_CALLS = 10
/** Each has five partitions, and four of five have three questionnaires: 7.4 on average. */
const MANY_CHANNELS = 1360

/** Measures whether throughput grows with the workers, and whether they keep to limits together. All on one machine. */
export const machines: Scenario = {
  letter: 'machines',
  title: `1 to ${MOST_WORKERS} workers, ${WIRE_MS} ms away, ${LATENCY_MS} ms a call`,
  run: async (bench) => {
    const measures: Measure[] = []
    for (const workers of bench.isQuick ? [2] : [1, 2, 4, MOST_WORKERS]) measures.push(await share(bench, workers))
    measures.push(...(await keepLimit(bench)), ...(await keepBudget(bench)))
    return [...measures, await takeOver(bench), ...(await readMany(bench))]
  },
}

/** Workers and the warehouse that they share. */
interface Team {
  readonly databaseUrl: string
  readonly workers: readonly Worker[]
  /** Runs `livehouse sync --queue --json`, which may fail. */
  readonly sync: (streams?: string, stop?: AbortSignal) => Promise<ProgramRun & { readonly seconds: number }>
  /** Ends the workers. @returns the largest peak of memory of any of them, and how much has landed */
  readonly stop: () => Promise<{ readonly peakMb: number; readonly partitions: number; readonly viewers: number }>
}

async function startTeam(
  bench: Bench,
  emulator: BenchEmulator,
  name: string,
  workers: number,
  concurrency = CONCURRENCY,
): Promise<Team> {
  const databaseUrl = await bench.server.fresh(databaseName('machines', name, workers))
  const options = programOptions(bench, emulator, {
    databaseUrl,
    env: { LIVEHOUSE_CONCURRENCY: String(concurrency) },
  })
  const wires: StallingProxy[] = []
  const started: Worker[] = []
  for (let number = 0; number < workers; number++) {
    const wire = await startStallingProxy(databaseUrl, { delayMs: WIRE_MS / 2 })
    wires.push(wire)
    started.push(await startWorker({ ...options, env: { ...options.env, DATABASE_URL: wire.url } }, PARTITIONS))
  }
  return {
    databaseUrl,
    workers: started,
    sync: async (streams, stop) => {
      const args = ['src/cli.ts', 'sync', '--queue', '--json', ...(streams ? ['--streams', streams] : [])]
      const run = await runProgram(args, {
        ...options,
        accepted: [0, 1, 3, 4, 143],
        onStart: (child) => stop?.addEventListener('abort', () => child.kill('SIGTERM'), { once: true }),
      })
      const { started_at, finished_at, errors }: Outcome = JSON.parse(run.stdout)
      if (run.code === 1) bench.say(`${name}: ${errors.map(({ message }) => message).join('; ') || 'no error given'}`)
      return { ...run, seconds: (Date.parse(finished_at) - Date.parse(started_at)) / 1000 }
    },
    stop: async () => {
      for (const { process } of started) process.kill('SIGTERM')
      // A killed worker reports no peak.
      const ends = await Promise.allSettled(started.map(({ ended }) => ended))
      const peaks = ends.map((end) => (end.status === 'fulfilled' ? end.value.peakMb : 0))
      for (const wire of wires) await wire[Symbol.asyncDispose]()
      await using db = await bench.server.open(databaseUrl)
      const { rows } = await sql<{ partitions: number; viewers: number }>`
        select count(distinct (stream, partition))::int as partitions,
          (select count(*)::int from livehouse.visitors) as viewers
        from livehouse_ops.slices where status = 'landed'`.execute(db)
      return { peakMb: Math.max(...peaks), partitions: rows[0]?.partitions ?? 0, viewers: rows[0]?.viewers ?? 0 }
    },
  }
}

/** Measures throughput. Each worker has as much to read, whatever their number. */
async function share(bench: Bench, workers: number): Promise<Measure> {
  const pages = bench.isQuick ? 5 : 24
  const world = { channels: CHANNELS_A_WORKER * workers, visitors: pages * 100 - 1, isWhole: false }
  await using emulator = await openEmulator({ world, conditions }, bench.signal)
  const team = await startTeam(bench, emulator, 'share', workers, SHARE_CONCURRENCY)
  await emulator.use()
  const before = { workers: await cpuOf(team), wires: cpuUsage() }
  const { result, use } = await bench.server.measure(async () => await team.sync('visitors'))
  const { calls, cpuUs: service } = await emulator.use(true)
  const wires = cpuUsage(before.wires)
  const used = {
    workers: (await cpuOf(team)) - before.workers,
    service,
    database: use.cpuUs ?? Number.NaN,
    wires: wires.user + wires.system,
  }
  const { peakMb } = await team.stop()
  const cpu = Object.entries(used).map(([what, us]) => `${what} ${(us / calls.length / 1000).toFixed(1)}`)
  bench.say(
    `${workers} workers: exit code ${result.code}, ${result.seconds.toFixed(1)} s, ${peakMb.toFixed(0)} MB at most`,
  )
  bench.say(`${calls.length} calls, ms of CPU each: ${cpu.join(', ')}`)
  return {
    name: `${workers} workers, ${world.channels} channels × ${pages} pages: calls a second ÷ ideal`,
    value: (rateOf(calls) * conditions.latencyMs) / (workers * SHARE_CONCURRENCY * 1000),
    unit: '×',
    ...(workers === MOST_WORKERS ? { goal: atLeast(0.85) } : {}),
  }
}

/** Calls per second in the middle 80 % of a run: its start and end take equally long for any number of workers. */
function rateOf(calls: readonly { readonly at: number }[]): number {
  const times = calls.map(({ at }) => at).toSorted((a, b) => a - b)
  const middle = times.slice(times.length * 0.1, times.length * 0.9)
  return ((middle.length - 1) * 1000) / ((middle.at(-1) ?? 0) - (middle[0] ?? 0))
}

async function cpuOf({ workers }: Team): Promise<number> {
  const each = await Promise.all(workers.map(async ({ process }) => await readTreeCpuUs(process.pid ?? 0)))
  return each.reduce<number>((sum, us) => sum + (us ?? Number.NaN), 0)
}

/** A hidden limit of calls per second, without a ceiling. */
async function keepLimit(bench: Bench): Promise<readonly Measure[]> {
  const workers = bench.isQuick ? 2 : MOST_WORKERS
  const seconds = bench.isQuick ? 14 : LIMITED_SECONDS
  // More pages than the limit lets through: the run is stopped at the end.
  const visitors = (100 * LIMIT * seconds * 2) / CHANNELS_A_WORKER
  const world = { channels: CHANNELS_A_WORKER, visitors, isWhole: false }
  await using emulator = await openEmulator(
    { world, conditions: { ...conditions, callsPerSecond: LIMIT } },
    bench.signal,
  )
  const team = await startTeam(bench, emulator, 'limit', workers)
  await emulator.use()
  const stop = new AbortController()
  const running = team.sync('visitors', stop.signal)
  const first = await firstCall(emulator)
  await delay(seconds * 1000)
  const calls = [...first.calls, ...(await emulator.use(true)).calls]
  stop.abort()
  await running
  await team.stop()
  const each = secondsFrom(first.at, seconds, calls)
  const name = `${workers} workers, a hidden limit of ${LIMIT} a second`
  bench.say(`${name}: ${each.map(formatSecond).join(' ')}`)
  return describe(name, LIMIT, each, false)
}

/** Version 1 allows ten calls a day (API 4.6), for all processes together. */
async function keepBudget(bench: Bench): Promise<readonly Measure[]> {
  const world = { channels: OLD_CHANNELS, visitors: 5, isWhole: true }
  await using emulator = await openEmulator({ world, conditions }, bench.signal)
  const team = await startTeam(bench, emulator, 'budget', 2)
  await emulator.use()
  const runs = await Promise.all(Array.from({ length: HOLDERS }, async () => await team.sync('watch_records_v1')))
  const { count } = await emulator.use()
  await team.stop()
  bench.say(`${HOLDERS} runs of version 1: ${count} calls, exit codes ${runs.map(({ code }) => code).join(', ')}`)
  const name = `${HOLDERS} runs at once, version 1 of ${OLD_CHANNELS} channels`
  return [
    { name: `${name}: calls`, value: count, unit: 'calls', goal: atMost(V1_CALLS) },
    { name: `${name}: calls left over`, value: V1_CALLS - count, unit: 'calls', goal: atMost(0) },
  ]
}

/** Measures how soon another worker takes over what a killed one was reading. */
async function takeOver(bench: Bench): Promise<Measure> {
  // As many partitions as one worker reads at once, so that the other one has room for all.
  const world = { channels: PARTITIONS, visitors: 20_000, isWhole: false }
  await using emulator = await openEmulator({ world, conditions }, bench.signal)
  const team = await startTeam(bench, emulator, 'take over', 2)
  const running = team.sync('visitors')
  await using db = await bench.server.open(team.databaseUrl)
  const readHolders = async () => {
    const { rows } = await sql<{ name: string; holder: string }>`
      select name, holder from livehouse_ops.leases where name like 'partition %'`.execute(db)
    return rows
  }
  let before = await readHolders()
  for (; before.length < PARTITIONS; before = await readHolders()) await delay(100)
  const countOf = (worker: Worker) => before.filter(({ holder }) => holder === holderOf(worker)).length
  const killed = team.workers.toSorted((a, b) => countOf(b) - countOf(a)).slice(0, 1)
  const killedAt = systemClock.now()
  for (const { process } of killed) process.kill('SIGKILL')
  const isLeft = ({ holder }: { readonly holder: string }) => killed.some((worker) => holderOf(worker) === holder)
  while ((await readHolders()).some(isLeft)) await delay(100)
  const seconds = (systemClock.now() - killedAt) / 1000
  const { code } = await running
  await team.stop()
  bench.say(`${before.filter(isLeft).length} partitions of a killed worker: exit code ${code}`)
  return {
    name: 'a killed worker: its partitions are taken over after',
    value: seconds,
    unit: 's',
    goal: atMost(30),
  }
}

/** Reads many small partitions of all streams. */
async function readMany(bench: Bench): Promise<readonly Measure[]> {
  const workers = bench.isQuick ? 2 : MOST_WORKERS
  const channels = bench.isQuick ? 20 : MANY_CHANNELS
  const world = { channels, visitors: 5, isWhole: true }
  await using emulator = await openEmulator({ world, conditions }, bench.signal)
  const team = await startTeam(bench, emulator, 'many', workers)
  const { code, seconds, peakMb: holderMb } = await team.sync()
  const { peakMb, partitions, viewers } = await team.stop()
  bench.say(`${channels} channels: exit code ${code}, ${seconds.toFixed(0)} s`)
  const name = `${workers} workers, ${channels} channels, ${partitions} partitions`
  return [
    { name: `${name}: time`, value: seconds, unit: 's' },
    { name: `${name}: partitions a second`, value: partitions / seconds, unit: '/s' },
    { name: `${name}: missing viewers`, value: emulator.rows - viewers, unit: 'rows', goal: atMost(0) },
    { name: `${name}: peak memory of a worker`, value: peakMb, unit: 'MB', goal: atMost(200) },
    { name: `${name}: peak memory of the run's holder`, value: holderMb, unit: 'MB' },
  ]
}
