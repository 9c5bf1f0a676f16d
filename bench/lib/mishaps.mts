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

/** The pause between two mishaps of a machine. Then it has LONGEST_IDLE_MS to start work, if there is any. */
const PAUSE_MS = [500, 4000] as const
const LONGEST_IDLE_MS = 8000
const LOOK_MS = 500
/** The longest mishap of each kind; most are much shorter. A worker that is away longer than a lease lasts loses it. */
const LONGEST_MS = { frozen: 60_000, 'without the database': 45_000, 'without the service': 20_000 }
/** The pause between two mishaps of the database or of a run. */
const COMMON_PAUSE_MS = [40_000, 80_000] as const
/** A run that takes longer is stuck. */
const LONGEST_RUN_MS = 300_000
/** How many syncs may be needed at the end until one is green. */
const LAST_RUNS = 4
const never = new AbortController().signal

export interface MishapOptions {
  readonly machines: readonly Machine[]
  readonly environment: Readonly<Record<string, string>>
  readonly db: Kysely<Database>
  /** The data folder of the embedded server. */
  readonly folder: string
  /** The same seed plays the same mishaps on each machine, as far as timing allows. */
  readonly seed: number
  readonly count: number
  readonly signal: AbortSignal
  /** Called for each mishap with its number, from 1 on. */
  readonly onMishap: (number: number) => void
}

interface Outcome {
  readonly counts: ReadonlyMap<string, number>
  readonly problems: readonly string[]
}

/**
 * Each machine has mishaps of its own, one after another, while a sync and a backfill repeat. After the last mishap,
 * the other machines complete a sync. Only then do the machines that are still frozen or cut off resume their old work.
 */
export async function playMishaps(options: MishapOptions): Promise<Outcome> {
  const { machines, environment, db, folder, seed, count, signal, onMishap } = options
  const counts = new Map<string, number>()
  const problems: string[] = []
  const over = new AbortController()
  let started = 0
  const pause = async (ms: number) => {
    await delay(ms, undefined, { signal: AbortSignal.any([over.signal, signal]) }).catch(() => {})
  }
  const tally = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)
  const countMishap = (kind: string) => {
    tally(kind)
    started += 1
    onMishap(started)
    if (started === count) over.abort()
  }
  const isOver = () => over.signal.aborted || signal.aborted

  /** Starts a mishap that lasts. @returns a function that ends it */
  const startMishap = (machine: Machine, kind: keyof typeof LONGEST_MS): (() => void) => {
    if (kind === 'frozen') return machine.freeze()
    return kind === 'without the database' ? machine.cutDatabase() : machine.cutService()
  }
  const lateEnds: (() => void)[] = []
  const disturbMachine = async (machine: Machine, number: number) => {
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
      if (isAtWork) tally('during work on partitions')
      countMishap(kind)
      if (kind === 'killed') {
        await machine.replace()
        continue
      }
      const endMishap = startMishap(machine, kind)
      await pause(LONGEST_MS[kind] * random.next() ** 2)
      // If no machine ever reached the service again, the last sync would rightly be partial.
      if (isOver() && kind !== 'without the service') lateEnds.push(endMishap)
      else endMishap()
    }
  }

  const holders = new Set<ChildProcess>()
  const disturbDatabaseAndRuns = async () => {
    const random = createRandom('chaos', seed)
    for (;;) {
      await pause(random.between(...COMMON_PAUSE_MS))
      if (isOver()) return
      const kind = random.pick(['database restarted', 'database crashed', 'run killed'])
      countMishap(kind)
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
      if (limit.aborted) problems.push(`${args.join(' ')} did not end within ${LONGEST_RUN_MS / 1000} s`)
      else if (child?.signalCode !== 'SIGKILL') problems.push(String(error))
      return { code: 1, stdout: '' }
    } finally {
      if (child !== undefined) holders.delete(child)
    }
  }
  const repeatRun = async (...args: readonly string[]) => {
    while (!isOver()) {
      const { code, stdout } = await run(...args)
      const [error] = stdout === '' ? [] : Object(JSON.parse(stdout)).errors
      tally(`runs that ended with ${code}${error ? `, ${error.code}` : ''}`)
      await pause(1000)
    }
  }

  const today = new Date(systemClock.now()).toISOString().slice(0, 10)
  const monthAgo = new Date(systemClock.now() - 30 * 86_400_000).toISOString().slice(0, 10)
  const runs = [repeatRun('sync'), repeatRun('backfill', '--from', monthAgo, '--to', today)]
  await Promise.all([disturbDatabaseAndRuns(), ...machines.map(disturbMachine)])
  // At most half of the machines resume late, so that the others can complete the sync.
  for (const endMishap of lateEnds.splice(machines.length / 2)) endMishap()
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
  for (const endMishap of lateEnds) endMishap()
  signal.throwIfAborted()
  return { counts, problems }
}

/** Whether the machine holds partitions; false if the database does not answer. */
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
