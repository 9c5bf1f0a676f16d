import { sql } from 'kysely'
import type { JobDefinition } from '../../src/core/define-job.ts'
import type { JobOutcome } from '../../src/app/run-job.ts'
import { createFakeClock, type FakeClock } from './fake-clock.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { doneWell, jobOf, startScheduler, type TestScheduler } from './start-scheduler.ts'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
/** 10:00 in Shanghai. */
export const START = Date.parse('2026-11-20T02:00:00Z')
export const nightly = { cron: '0 2 * * *' } as const

/** Schedulers of one job on one database, at a clock that a test moves. */
export interface SchedulerBench extends AsyncDisposable {
  readonly database: TestDatabase
  clock: FakeClock
  /** When each run began, and which scheduler began it. */
  readonly begun: { readonly at: string; readonly worker: string }[]
  /** What a run does. */
  work: (signal: AbortSignal) => Promise<JobOutcome>
  /** Who polls wakes up at multiples of this only; an hour unless a test needs it finer. */
  gridMs: number
  readonly start: (definition?: JobDefinition, worker?: string) => TestScheduler
  readonly stop: (scheduler: TestScheduler) => Promise<void>
  readonly times: () => readonly string[]
  readonly readRuns: () => Promise<
    readonly {
      readonly local_time: string | null
      readonly status: string
      readonly outcome: string | null
      readonly attempts: number
      readonly error: string | null
    }[]
  >
  /** Ends what lives and forgets all that was. */
  readonly reset: () => Promise<void>
}

export async function startSchedulerBench(): Promise<SchedulerBench> {
  const database = await createTestDatabase()
  const { db } = database
  const live = new Set<TestScheduler>()
  const createClock = () => createFakeClock({ startMs: START, gridMs: () => bench.gridMs })
  const bench: SchedulerBench = {
    database,
    clock: createFakeClock(),
    begun: [],
    work: async () => doneWell,
    gridMs: HOUR,
    start: (definition = nightly, worker = 'a') => {
      const { clock } = bench
      const run = async (signal: AbortSignal) => {
        bench.begun.push({ at: new Date(clock.now()).toISOString().slice(0, 16), worker })
        return await bench.work(signal)
      }
      const job = jobOf('nightly', definition)
      const scheduler = startScheduler(db, clock, [job], async (_, { signal }) => await run(signal), worker)
      live.add(scheduler)
      return scheduler
    },
    stop: async (scheduler) => {
      live.delete(scheduler)
      await scheduler.stop()
    },
    times: () => bench.begun.map(({ at }) => at),
    readRuns: async () =>
      await db
        .selectFrom('livehouse_ops.job_runs')
        .select(['local_time', 'status', 'outcome', 'attempts', 'error'])
        .orderBy('job_run_id')
        .execute(),
    reset: async () => {
      for (const scheduler of live) await bench.stop(scheduler)
      for (const table of ['jobs', 'job_runs', 'schedulers']) {
        await sql`delete from ${sql.table(`livehouse_ops.${table}`)}`.execute(db)
      }
      bench.begun.length = 0
      bench.work = async () => doneWell
      bench.gridMs = HOUR
      bench.clock = createClock()
    },
    [Symbol.asyncDispose]: async () => {
      for (const scheduler of live) await bench.stop(scheduler)
      await database[Symbol.asyncDispose]()
    },
  }
  bench.clock = createClock()
  return bench
}
