import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import type { JobDefinition } from '../../src/core/define-job.ts'
import { formatWallTime } from '../../src/core/wall-clock.ts'
import { type DueRun, toDueJob } from '../../src/scheduler/perform-run.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { ofTest } from '../helpers/of-file.ts'
import { untilRow } from '../helpers/own-locks.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { jobOf, startScheduler, type TestScheduler } from '../helpers/start-scheduler.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** 10:00 in Shanghai. */
const START = Date.parse('2026-11-20T02:00:00Z')
const nightly = { cron: '0 2 * * *' } as const

/** Schedulers of one job on one database, with a clock that the test moves and a queue that ends each run at once. */
async function startSchedulerBench() {
  const database = await createTestDatabase()
  const { db } = database
  const live = new Set<TestScheduler>()
  const sent = new Map<string, { readonly at: string; readonly tick: string }>()
  const clock = createFakeClock({ startMs: START, gridMs: () => HOUR })
  const send = async ({ job, tick }: DueRun): Promise<void> => {
    const { id } = toDueJob({ job, tick })
    if (sent.has(id)) return
    const localTime = formatWallTime(tick.localTime)
    sent.set(id, { at: new Date(clock.now()).toISOString().slice(0, 16), tick: localTime })
    await sql`insert into livehouse_ops.job_runs
      (job, time_zone, local_time, is_repeat, due_at, status, attempts, worker, started_at)
      values (${job.name}, ${job.timeZone}, ${localTime}, ${tick.isRepeat}, ${new Date(tick.dueAtMs)},
        'ended', 1, 'test', now())`.execute(db)
  }
  const bench = {
    database,
    clock,
    times: () => [...sent.values()].map(({ at }) => at),
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

const atTwo = (...days: readonly number[]) => days.map((day) => `2026-11-${day} 02:00:00`)

const bench = ofTest(startSchedulerBench)

test('of missed nights only the last is made up for, and none from before the job was known', async () => {
  const scheduler = bench.start()
  await bench.clock.runTo(START + DAY)
  await bench.stop(scheduler)
  await bench.clock.runTo(START + 4 * DAY)
  bench.start()
  await bench.clock.runTo(START + 5 * DAY)
  expect(bench.times()).toEqual(['2026-11-20T18:00', '2026-11-24T02:00', '2026-11-24T18:00'])
  expect(bench.ticks()).toEqual(atTwo(21, 24, 25))
})

test('a job whose zone has changed is due at the same wall time of the new zone, and never twice', async () => {
  const scheduler = bench.start()
  await bench.clock.runTo(START + DAY - HOUR)
  await bench.stop(scheduler)
  const inUtc = bench.start({ ...nightly, timezone: 'UTC' })
  await bench.clock.runTo(START + DAY + HOUR)
  await bench.stop(inUtc)
  bench.start()
  await bench.clock.runTo(START + DAY + 18 * HOUR)
  await bench.clock.runTo(START + 2 * DAY + 18 * HOUR)
  expect(bench.times()).toEqual(['2026-11-20T18:00', '2026-11-21T02:00', '2026-11-21T18:00', '2026-11-22T18:00'])
})

test('a clock that jumps ahead makes up for the last missed night, and one that jumps back repeats none', async () => {
  bench.start()
  await bench.clock.runTo(START + DAY)
  bench.clock.nowMs += 3 * DAY
  await bench.clock.runTo(START + 4 * DAY + HOUR)
  expect(bench.times()).toHaveLength(2)
  bench.clock.nowMs -= 2 * HOUR
  await bench.clock.runTo(START + 5 * DAY)
  bench.clock.nowMs -= 20 * HOUR
  await bench.clock.runTo(START + 6 * DAY)
  expect(bench.times()).toHaveLength(4)
  expect(bench.ticks()).toEqual(atTwo(21, 24, 25, 26))
})

test('after a correction of a clock that was ahead, no night is repeated, and skipped ones are run', async () => {
  bench.start()
  await bench.clock.runTo(START + DAY)
  bench.clock.nowMs += 3 * DAY
  await bench.clock.runTo(START + 4 * DAY + HOUR)
  bench.clock.nowMs -= 3 * DAY
  await bench.clock.runTo(START + 5 * DAY)
  expect(bench.ticks()).toEqual(atTwo(21, 24, 22, 23, 25))
})

test('a missing table ends the scheduler with the advice to start again', async () => {
  const { db } = bench.database
  const clock = createFakeClock({ startMs: START })
  const send = async () => void (await sql`select from pgboss.gone`.execute(db))
  const scheduler = startScheduler(db, clock, [jobOf('nightly', nightly)], send)
  await untilRow(db, sql`select from livehouse_ops.jobs`)
  await clock.advance(17 * HOUR)
  await expect(scheduler.ended).rejects.toThrow(/pgboss.gone.*Start livehouse again/)
})

test('a lost database is waited for, and runs that were due are queued when it is back', async () => {
  const { db } = bench.database
  const clock = createFakeClock({ startMs: START })
  let tries = 0
  const sent: DueRun[] = []
  const send = async (run: DueRun) => {
    if (tries++ === 0) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(db)
    sent.push(run)
  }
  const restore = vi.fn(async () => await Promise.reject(new Error('not yet')))
  const scheduler = startScheduler(db, clock, [jobOf('nightly', nightly)], send, restore)
  await untilRow(db, sql`select from livehouse_ops.jobs`)
  await clock.advance(17 * HOUR)
  await vi.waitFor(async () => {
    await clock.advance(5000)
    expect(restore).toHaveBeenCalledOnce()
    expect(sent).not.toEqual([])
    expect(scheduler.events()).toEqual(['serve.started', 'database.lost', 'database.notRestored', 'database.back'])
  }, 120_000)
  await scheduler.stop()
})
