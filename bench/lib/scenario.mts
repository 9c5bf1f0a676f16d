import { createHash } from 'node:crypto'
import type { BenchEmulator } from './emulator.mts'
import type { Measure } from './measures.mts'
import { type ProgramRun, runProgram } from './run-program.mts'
import type { BenchServer, DatabaseUse } from './warehouse.mts'

/** What every scenario works with. */
export interface Bench {
  readonly server: BenchServer
  readonly signal: AbortSignal
  /** Small sizes and one repetition: checks that everything works, not how fast it is. */
  readonly isQuick: boolean
  /** The largest number of rows that scenarios measure. */
  readonly rows: number
  /** Simulated nights. */
  readonly nights: number
  /** Rounds of scenarios that use random numbers. */
  readonly rounds: number
  /** The seed of these random numbers. */
  readonly seed: number
  /** A folder for files. */
  readonly folder: string
  /** Prints a line of progress. */
  readonly say: (line: string) => void
}

export interface Scenario {
  /** Its name in `--only`, in most cases a letter. */
  readonly letter: string
  readonly title: string
  readonly run: (bench: Bench) => Promise<readonly Measure[]>
}

/** One run of the program, and what it cost the database and the service. */
export interface MeasuredRun extends ProgramRun {
  readonly database: DatabaseUse
  readonly emulatorCpuUs: number
  /** As the service counted them. */
  readonly calls: number
  readonly outcome: Outcome
}

interface StreamCounts {
  readonly calls: number
  readonly inserted: number
  readonly updated: number
  readonly slices: Readonly<Record<string, number>>
}

/** The part of the `--json` output that the bench reads. */
export interface Outcome {
  readonly status: string
  readonly started_at: string
  readonly finished_at: string
  readonly errors: readonly { readonly message: string }[]
  readonly streams: Readonly<Record<string, StreamCounts>>
}

export interface SyncOptions {
  readonly databaseUrl: string
  readonly streams?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs `livehouse sync --json` as a process of its own, without a ceiling on the rate unless the scenario sets one. */
export async function measureSync(bench: Bench, emulator: BenchEmulator, options: SyncOptions): Promise<MeasuredRun> {
  await emulator.use()
  const args = ['src/cli.ts', 'sync', '--json', ...(options.streams ? ['--streams', options.streams] : [])]
  const { result, use } = await bench.server.measure(
    async () => await runProgram(args, programOptions(bench, emulator, options)),
  )
  const { cpuUs, count } = await emulator.use()
  const outcome: Outcome = JSON.parse(result.stdout)
  return { ...result, database: use, emulatorCpuUs: cpuUs, calls: count, outcome }
}

export function programOptions(bench: Bench, emulator: BenchEmulator, { databaseUrl, env }: SyncOptions) {
  return {
    signal: bench.signal,
    env: {
      ...emulator.env,
      DATABASE_URL: databaseUrl,
      LIVEHOUSE_MAX_CALLS_PER_SECOND: '0',
      LOG_LEVEL: 'error',
      ...env,
    },
  }
}

/** A name for a database that no other scenario uses. */
export function databaseName(...parts: readonly (string | number)[]): string {
  return `bench_${createHash('sha256').update(parts.join('/')).digest('hex').slice(0, 12)}`
}

/** CPU time of all processes per row, in microseconds; NaN if the system does not report that of the server. */
export function cpuPerRow({ cpuUs, database, emulatorCpuUs }: MeasuredRun, rows: number): number {
  return (cpuUs + emulatorCpuUs + (database.cpuUs ?? Number.NaN)) / rows
}
