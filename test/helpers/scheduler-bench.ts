import { sql } from 'kysely'
import type { JobDefinition } from '../../src/core/define-job.ts'
import { formatWallTime } from '../../src/core/wall-clock.ts'
import { type QueuedRun, queuedRun } from '../../src/scheduler/perform-run.ts'
import { createFakeClock, type FakeClock } from './fake-clock.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { jobOf, startScheduler, type TestScheduler } from './start-scheduler.ts'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
/** 10:00 in Shanghai. */
export const START = Date.parse('2026-11-20T02:00:00Z')
export const nightly = { cron: '0 2 * * *' } as const

/** Schedulers of one job on one database, at a clock that a test moves, and a queue that does each run at once. */
export interface SchedulerBench extends AsyncDisposable {
  readonly database: TestDatabase
  clock: FakeClock
  /** When each run was begun. */
  readonly times: () => readonly string[]
  /** The wall time of each. */
  readonly ticks: () => readonly string[]
  readonly start: (definition?: JobDefinition) => TestScheduler
  readonly stop: (scheduler: TestScheduler) => Promise<void>
  /** Ends what lives and forgets all that was. */
  readonly reset: () => Promise<void>
}

export async function startSchedulerBench(): Promise<SchedulerBench> {
  const database = await createTestDatabase()
  const { db } = database
  const live = new Set<TestScheduler>()
  const sent = new Map<string, { readonly at: string; readonly tick: string }>()
  const createClock = () => createFakeClock({ startMs: START, gridMs: () => HOUR })
  const send = async ({ job, tick }: QueuedRun): Promise<void> => {
    const { id } = queuedRun({ job, tick })
    if (sent.has(id)) return
    const localTime = formatWallTime(tick.localTime)
    sent.set(id, { at: new Date(bench.clock.now()).toISOString().slice(0, 16), tick: localTime })
    await sql`insert into livehouse_ops.job_runs
      (job, time_zone, local_time, is_repeat, due_at, status, attempts, worker, started_at)
      values (${job.name}, ${job.timeZone}, ${localTime}, ${tick.isRepeat}, ${new Date(tick.dueAtMs)}, 'ended', 1, 'test', now())`.execute(
      db,
    )
  }
  const bench: SchedulerBench = {
    database,
    clock: createClock(),
    times: () => [...sent.values()].map(({ at }) => at),
    ticks: () => [...sent.values()].map(({ tick }) => tick),
    start: (definition = nightly) => {
      const scheduler = startScheduler(db, bench.clock, [jobOf('nightly', definition)], send)
      live.add(scheduler)
      return scheduler
    },
    stop: async (scheduler) => {
      live.delete(scheduler)
      await scheduler.stop()
    },
    reset: async () => {
      for (const scheduler of live) await bench.stop(scheduler)
      for (const table of ['jobs', 'job_runs']) {
        await sql`delete from ${sql.table(`livehouse_ops.${table}`)}`.execute(db)
      }
      sent.clear()
      bench.clock = createClock()
    },
    [Symbol.asyncDispose]: async () => {
      for (const scheduler of live) await bench.stop(scheduler)
      await database[Symbol.asyncDispose]()
    },
  }
  return bench
}
