import { setTimeout as delay } from 'node:timers/promises'
import { type BenchEmulator, openEmulator } from '../lib/emulator.mts'
import { atLeast, atMost, type Measure } from '../lib/measures.mts'
import { runProgram } from '../lib/run-program.mts'
import { type Bench, databaseName, programOptions, type Scenario } from '../lib/scenario.mts'

const SECONDS = 25
/** By then, livehouse should have found a rate. */
const SETTLED_SECONDS = 10
const LATENCY_MS = 20

/** d): a limit that the service does not report: how much of it is used, how many calls are refused, and how soon. */
export const hiddenLimit: Scenario = {
  letter: 'd',
  title: 'a hidden limit of calls per second, without a ceiling',
  run: async (bench) => {
    const measures: Measure[] = []
    const limits = bench.isQuick ? [40] : [40, 200]
    for (const limit of limits) {
      for (const retryAfter of bench.isQuick ? [undefined] : [undefined, 1]) {
        const name = `${limit} a second${retryAfter === undefined ? '' : ', with Retry-After'}`
        measures.push(...(await run(bench, name, [{ limit, seconds: secondsOf(bench) }], { retryAfter })))
      }
    }
    if (bench.isQuick) return measures
    const changing = [
      { limit: 100, seconds: SECONDS },
      { limit: 40, seconds: SECONDS },
    ]
    measures.push(...(await run(bench, '100, then 40 a second', changing, {})))
    measures.push(
      ...(await run(bench, '60 a second, two processes', [{ limit: 60, seconds: SECONDS }], { processes: 2 })),
    )
    return measures
  },
}

interface Phase {
  readonly limit: number
  readonly seconds: number
}

interface Second {
  readonly admitted: number
  readonly refused: number
}

function secondsOf({ isQuick }: Bench): number {
  return isQuick ? 14 : SECONDS
}

async function run(
  bench: Bench,
  name: string,
  phases: readonly Phase[],
  { retryAfter, processes = 1 }: { readonly retryAfter?: number | undefined; readonly processes?: number },
): Promise<readonly Measure[]> {
  // More pages than the limits let through: the run is stopped after the last phase.
  const world = { channels: 10, visitors: 100_000, isWhole: false }
  const first = phases[0]?.limit
  const conditions = { latencyMs: LATENCY_MS, callsPerSecond: first, retryAfterSeconds: retryAfter }
  await using emulator = await openEmulator({ world, conditions }, bench.signal)
  const databaseUrl = await bench.server.fresh(databaseName('limit', name))
  await emulator.use()
  const stop = new AbortController()
  const runs = Array.from({ length: processes }, (_, index) =>
    start(bench, emulator, databaseUrl, index, processes, stop.signal),
  )
  const since = await firstCall(emulator)
  const calls: { readonly at: number; readonly status: number }[] = [...since.calls]
  // The first limit holds from the first call on, which may be noticed late; the others from when they are set.
  const begins: number[] = []
  for (const { limit, seconds: length } of phases) {
    await emulator.set({ callsPerSecond: limit })
    begins.push(begins.length === 0 ? since.at : Date.now())
    await delay(length * 1000)
  }
  stop.abort()
  await Promise.all(runs)
  calls.push(...(await emulator.use(true)).calls)
  return phases.flatMap(({ limit, seconds: length }, index) => {
    const suffix = phases.length === 1 ? '' : ` (phase ${index + 1}, ${limit})`
    const seconds = secondsFrom(begins[index] ?? since.at, length, calls)
    bench.say(`${name}${suffix}: ${seconds.map(formatSecond).join(' ')}`)
    return describe(`${name}${suffix}`, limit, seconds, retryAfter !== undefined)
  })
}

/** Counts the calls admitted and refused in each second from `beginsAt` on. */
export function secondsFrom(
  beginsAt: number,
  length: number,
  calls: readonly { readonly at: number; readonly status: number }[],
): readonly Second[] {
  return Array.from({ length }, (_, second) => {
    const within = calls.filter(({ at }) => Math.floor((at - beginsAt) / 1000) === second)
    const refused = within.filter(({ status }) => status === 429).length
    return { admitted: within.length - refused, refused }
  })
}

/** Formats a second: 40-2 had 40 admitted calls and two refusals. */
export function formatSecond({ admitted, refused }: Second): string {
  return refused > 0 ? `${admitted}-${refused}` : String(admitted)
}

/** Starts a sync. With several processes, each reads channels of its own. */
function start(
  bench: Bench,
  emulator: BenchEmulator,
  databaseUrl: string,
  index: number,
  processes: number,
  signal: AbortSignal,
): Promise<unknown> {
  const channels = (emulator.env.LIVEHOUSE_CHANNELS ?? '').split(',').filter((_, place) => place % processes === index)
  const options = programOptions(bench, emulator, { databaseUrl })
  const args = ['src/cli.ts', 'sync', '--json', '--streams', 'visitors', '--channels', channels.join(',')]
  return runProgram(args, {
    ...options,
    accepted: [143],
    onStart: (child) => signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true }),
  })
}

/** Waits for the service's first call. @returns its time, and all calls so far */
export async function firstCall(emulator: BenchEmulator) {
  for (;;) {
    const { calls } = await emulator.use(true)
    if (calls[0]) return { calls, at: calls[0].at }
    await delay(20)
  }
}

/** There is no goal if the service orders pauses: these decide how much of its limit can be used. */
export function describe(
  name: string,
  limit: number,
  seconds: readonly Second[],
  isPaused: boolean,
): readonly Measure[] {
  const settled = seconds.slice(SETTLED_SECONDS)
  const sum = (read: (second: Second) => number) => settled.reduce((total, second) => total + read(second), 0)
  const admitted = sum((second) => second.admitted)
  const refused = sum((second) => second.refused)
  const isUnsettled = (second: Second) =>
    second.admitted < 0.88 * limit || second.refused > 0.03 * (second.admitted + second.refused) + 1
  const settledAt = seconds.findIndex((_, index) => !seconds.slice(index, index + 3).some(isUnsettled))
  return [
    {
      name: `${name}: share of the limit used after ${SETTLED_SECONDS} s`,
      value: admitted / settled.length / limit,
      unit: '×',
      ...(isPaused ? {} : { goal: atLeast(0.88) }),
    },
    {
      name: `${name}: refused after ${SETTLED_SECONDS} s`,
      value: (100 * refused) / (admitted + refused),
      unit: '%',
      ...(isPaused ? {} : { goal: atMost(3) }),
    },
    {
      name: `${name}: settled after`,
      value: settledAt === -1 ? seconds.length : settledAt,
      unit: 's',
      ...(isPaused ? {} : { goal: atMost(10) }),
    },
  ]
}
