import { sql } from 'kysely'
import type { JobDefinition } from '../../src/core/define-job.ts'
import { formatWallTime } from '../../src/core/wall-clock.ts'
import { type QueuedRun, queuedRun } from '../../src/scheduler/perform-run.ts'
import { createFakeClock } from './fake-clock.ts'
import { createTestDatabase } from './postgres.ts'
import { jobOf, startScheduler, type TestScheduler } from './start-scheduler.ts'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
/** 10:00 in Shanghai. */
export const START = Date.parse('2026-11-20T02:00:00Z')
export const nightly = { cron: '0 2 * * *' } as const

/** Schedulers of one job on one database, at a clock that a test moves, and a queue that does each run at once. */
export async function startSchedulerBench() {
  const database = await createTestDatabase()
  const { db } = database
  const live = new Set<TestScheduler>()
  const sent = new Map<string, { readonly at: string; readonly tick: string }>()
  const clock = createFakeClock({ startMs: START, gridMs: () => HOUR })
  const send = async ({ job, tick }: QueuedRun): Promise<void> => {
    const { id } = queuedRun({ job, tick })
    if (sent.has(id)) return
    const localTime = formatWallTime(tick.localTime)
    sent.set(id, { at: new Date(clock.now()).toISOString().slice(0, 16), tick: localTime })
    await sql`insert into livehouse_ops.job_runs
      (job, time_zone, local_time, is_repeat, due_at, status, attempts, worker, started_at)
      values (${job.name}, ${job.timeZone}, ${localTime}, ${tick.isRepeat}, ${new Date(tick.dueAtMs)}, 'ended', 1, 'test', now())`.execute(
      db,
    )
  }
  const bench = {
    database,
    clock,
    /** When each run was begun. */
    times: () => [...sent.values()].map(({ at }) => at),
    /** The wall time of each. */
    ticks: () => [...sent.values()].map(({ tick }) => tick),
    start: (definition: JobDefinition = nightly): TestScheduler => {
      const scheduler = startScheduler(db, clock, [jobOf('nightly', definition)], send)
      live.add(scheduler)
      return scheduler
    },
    stop: async (scheduler: TestScheduler): Promise<void> => {
      live.delete(scheduler)
      await scheduler.stop()
    },
    [Symbol.asyncDispose]: async () => {
      for (const scheduler of live) await bench.stop(scheduler)
      await database[Symbol.asyncDispose]()
    },
  }
  return bench
}
