import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import { createRandom } from '../../src/emulator/world/random.ts'
import type { Database } from '../../src/store/database.ts'
import { locateHome } from '../../src/store/embedded/home.ts'
import { isEmbeddedRunning, startEmbedded, stopEmbedded } from '../../src/store/embedded.ts'
import type { Machine } from './machine.mts'
import { runProgram } from './run-program.mts'

/** Between two mishaps of a machine; then it is left to begin some work, if there is any. */
const PAUSE_MS = [500, 4000] as const
const LONGEST_IDLE_MS = 8000
const LOOK_MS = 500
/** Most are much shorter. A worker that is away for longer than a lease lives comes back as one that has lost it. */
const LOAD_TIMEOUT_MS = { frozen: 60_000, 'without the database': 45_000, 'without the service': 20_000 }
/** Between two mishaps of the database, or of a run's holder. */
const COMMON_PAUSE_MS = [40_000, 80_000] as const
/** A run that takes longer waits for something that is lost. */
const LONGEST_RUN_MS = 300_000
/** How often the last sync may be repeated until nothing is left. */
const LAST_RUNS = 4
const never = new AbortController().signal

export interface MishapOptions {
  readonly machines: readonly Machine[]
  readonly environment: Readonly<Record<string, string>>
  readonly db: Kysely<Database>
  /** Of the embedded server. */
  readonly folder: string
  /** The same one plays the same mishaps on each machine, as far as its processes take as long. */
  readonly seed: number
  readonly count: number
  readonly signal: AbortSignal
  /** Hears of each, from 1 on. */
  readonly onMishap: (number: number) => void
}

interface Played {
  readonly counts: ReadonlyMap<string, number>
  readonly problems: readonly string[]
}

/**
 * Each machine has mishaps of its own, one after another, while a sync and a backfill run again and again. After the last one
 * the others bring a sync to its end; only then what is still frozen or cut off comes back, with what it has in hand.
 */
export async function playMishaps(options: MishapOptions): Promise<Played> {
  const { machines, environment, db, folder, seed, count, signal, onMishap } = options
  const counts = new Map<string, number>()
  const problems: string[] = []
  const over = new AbortController()
  let begun = 0
  const pause = async (ms: number) => {
    await delay(ms, undefined, { signal: AbortSignal.any([over.signal, signal]) }).catch(() => {})
  }
  const tally = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)
  const begin = (kind: string) => {
    tally(kind)
    begun += 1
    onMishap(begun)
    if (begun === count) over.abort()
  }
  const isOver = () => over.signal.aborted || signal.aborted

  /** Begins what lasts. @returns ends it */
  const strike = (machine: Machine, kind: keyof typeof LOAD_TIMEOUT_MS): (() => void) => {
    if (kind === 'frozen') return machine.freeze()
    return kind === 'without the database' ? machine.cutDatabase() : machine.cutService()
  }
  const late: (() => void)[] = []
  const befallMachine = async (machine: Machine, number: number) => {
    const random = createRandom('chaos', seed, number)
    for (;;) {
      await pause(random.between(...PAUSE_MS))
      const idleUntil = systemClock.now() + LONGEST_IDLE_MS
      let isAtWork = await hasPartitions(db, machine)
      while (!isAtWork && !isOver() && systemClock.now() < idleUntil) {
        await pause(LOOK_MS)
        isAtWork = await hasPartitions(db, machine)
      }
      if (isOver()) return
      const kind = random.pick(['killed', 'frozen', 'without the database', 'without the service'] as const)
      if (isAtWork) tally('with partitions in hand')
      begin(kind)
      if (kind === 'killed') {
        await machine.replace()
        continue
      }
      const goOn = strike(machine, kind)
      await pause(LOAD_TIMEOUT_MS[kind] * random.next() ** 2)
      // Where no machine can reach the service for good, a run is partial, and rightly so.
      if (isOver() && kind !== 'without the service') late.push(goOn)
      else goOn()
    }
  }

  const holders = new Set<ChildProcess>()
  const befallAll = async () => {
    const random = createRandom('chaos', seed)
    for (;;) {
      await pause(random.between(...COMMON_PAUSE_MS))
      if (isOver()) return
      const kind = random.pick(['database restarted', 'database crashed', 'run killed'])
      begin(kind)
      if (kind === 'run killed') [...holders][random.between(0, holders.size - 1)]?.kill('SIGKILL')
      else await restartDatabase(folder, kind)
    }
  }

  const run = async (...args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string }> => {
    let child: ChildProcess | undefined
    const limit = AbortSignal.timeout(LONGEST_RUN_MS)
    try {
      return await runProgram(['src/cli.ts', ...args, '--queue', '--json'], {
        signal: AbortSignal.any([signal, limit]),
        env: environment,
        accepted: [0, 1, 3],
        onStart: (started) => holders.add((child = started)),
      })
    } catch (error) {
      if (limit.aborted) problems.push(`${args.join(' ')} had not ended after ${LONGEST_RUN_MS / 1000} s`)
      else if (child?.signalCode !== 'SIGKILL') problems.push(String(error))
      return { code: 1, stdout: '' }
    } finally {
      if (child !== undefined) holders.delete(child)
    }
  }
  const runOver = async (...args: readonly string[]) => {
    while (!isOver()) {
      const { code, stdout } = await run(...args)
      const [error] = stdout === '' ? [] : Object(JSON.parse(stdout)).errors
      tally(`runs that ended with ${code}${error ? `, ${error.code}` : ''}`)
      await pause(1000)
    }
  }

  const today = new Date(systemClock.now()).toISOString().slice(0, 10)
  const monthAgo = new Date(systemClock.now() - 30 * 86_400_000).toISOString().slice(0, 10)
  const runs = [runOver('sync'), runOver('backfill', '--from', monthAgo, '--to', today)]
  await Promise.all([befallAll(), ...machines.map(befallMachine)])
  // Half of them are enough.
  for (const goOn of late.splice(machines.length / 2)) goOn()
  await Promise.all(runs)
  onMishap(count)
  for (let number = 1; !signal.aborted; number++) {
    const { code, stdout } = await run('sync')
    if (code === 0) break
    if (number === LAST_RUNS) {
      problems.push(`the last sync ended with ${code}: ${stdout.slice(-500)}`)
      break
    }
  }
  for (const goOn of late) goOn()
  signal.throwIfAborted()
  return { counts, problems }
}

/** @returns false where the database does not answer */
async function hasPartitions(db: Kysely<Database>, { holder }: Machine): Promise<boolean> {
  const held = sql`select from livehouse_ops.leases
    where holder = ${holder()} and name like 'partition %' and expires_at > now()`
  return await held.execute(db).then(
    ({ rows }) => rows.length > 0,
    () => false,
  )
}

async function restartDatabase(folder: string, kind: string): Promise<void> {
  if (kind === 'database crashed') {
    const { pgdata } = await locateHome(folder)
    const [pid] = (await readFile(join(pgdata, 'postmaster.pid'), 'utf8')).split('\n')
    // Immediate shutdown: without a checkpoint, as after a crash (PostgreSQL, 18.5).
    process.kill(Number(pid), 'SIGQUIT')
    while (await isEmbeddedRunning(folder)) await delay(50)
  } else await stopEmbedded(folder, never)
  await startEmbedded(folder, systemClock, never)
}
