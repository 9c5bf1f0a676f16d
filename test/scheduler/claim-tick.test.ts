import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type JobRun } from '../../src/ledger/job-runs.ts'
import { onServer } from '../helpers/postgres.ts'
import { HOUR, nightly, type SchedulerBench, START, startSchedulerBench } from '../helpers/scheduler-bench.ts'
import { doneWell, jobOf } from '../helpers/start-scheduler.ts'
import { openTimetable } from '../../src/scheduler/timetable.ts'
import { decide } from '../../src/scheduler/claim-tick.ts'

let bench: SchedulerBench

beforeAll(async () => {
  bench = await startSchedulerBench()
})
beforeEach(async () => await bench.reset())
afterAll(async () => await bench[Symbol.asyncDispose]())

/** A run of the night before, as a process leaves it that dies. */
async function beganAndDied(attempts: number, error: string | null = null): Promise<void> {
  await bench.database.db
    .insertInto('livehouse_ops.job_runs')
    .values({
      job: 'nightly',
      local_time: '2026-11-20 02:00:00',
      is_repeat: false,
      due_at: new Date('2026-11-19T18:00:00Z'),
      run_id: '4',
      status: error === null ? 'running' : 'interrupted',
      outcome: null,
      attempts,
      worker: 'gone',
      error,
      started_at: new Date('2026-11-19T18:00:00Z'),
    })
    .execute()
}

test('a run whose process died is taken up again, but not for ever', async () => {
  await bench.stop(bench.start())
  await beganAndDied(3)
  const runs: unknown[] = []
  for (let round = 0; round < 3; round++) {
    const scheduler = bench.start()
    await bench.clock.runTo(bench.clock.now() + 2 * HOUR)
    await bench.stop(scheduler)
    runs.push(...(await bench.readRuns()))
    // As a process leaves it that dies.
    await sql`update livehouse_ops.job_runs set status = 'running' where status = 'ended'`.execute(bench.database.db)
  }
  expect(bench.times()).toHaveLength(2)
  expect(runs).toMatchObject([
    { status: 'ended', attempts: 4 },
    { status: 'ended', attempts: 5 },
    { status: 'ended', outcome: 'failed', attempts: 5, error: 'it was begun 5 times and never ended' },
  ])
})

test('what a signal stopped, or whose process died, is nobody’s alarm where the next time comes first: that run does the rest', async () => {
  bench.work = async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return { ...doneWell, status: 'partial' }
  }
  const scheduler = bench.start()
  await bench.clock.runTo(START + 17 * HOUR)
  await bench.stop(scheduler)
  // Nothing serves until the next night.
  await bench.clock.runTo(START + 40 * HOUR)
  bench.work = async () => await Promise.reject(new Error('stop here'))
  const next = bench.start()
  await bench.clock.runTo(START + 41 * HOUR)
  expect(await bench.readRuns()).toMatchObject([
    {
      local_time: '2026-11-21 02:00:00',
      status: 'skipped',
      outcome: null,
      error: 'it was interrupted, and the run of 2026-11-22 02:00:00 does what it left',
    },
    { local_time: '2026-11-22 02:00:00', status: 'ended' },
  ])
  expect(next.events()).toContain('job.superseded')
  expect(bench.times()).toHaveLength(2)
})

test.each([
  ['its process died once', 1, null, 'skipped'],
  ['its process died again and again', 2, null, 'ended'],
  ['the database stopped it', 1, 'the database refuses', 'ended'],
])('of a run without an end when it is due again, %s', async (_, attempts, error, status) => {
  await bench.stop(bench.start())
  await beganAndDied(attempts, error)
  await bench.clock.runTo(START + 17 * HOUR)
  bench.start()
  await bench.clock.runTo(START + 18 * HOUR)
  const outcome = status === 'ended' ? 'failed' : null
  expect(await bench.readRuns()).toMatchObject([
    { status, outcome },
    { status: 'ended', outcome: 'ok' },
  ])
})

test('a database that goes is waited for, and the run that it interrupted is taken up again', async () => {
  const allow = async (isAllowed: boolean) =>
    await onServer(async (admin) => {
      const name = sql.id(bench.database.name)
      await sql`alter database ${name} with allow_connections ${sql.raw(String(isAllowed))}`.execute(admin)
      if (!isAllowed) {
        await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${bench.database.name}`.execute(
          admin,
        )
      }
    })
  bench.work = async () => {
    await allow(false)
    return await sql`select 1`.execute(bench.database.db).then(() => doneWell)
  }
  const scheduler = bench.start()
  await bench.clock.runTo(START + 17 * HOUR)
  expect(scheduler.databaseProblem()).toEqual(expect.stringContaining('Database'))
  bench.work = async () => doneWell
  await allow(true)
  await sql`update livehouse_ops.leases set expires_at = now()`.execute(bench.database.db)
  await bench.clock.runTo(START + 18 * HOUR)
  expect(scheduler.databaseProblem()).toBeUndefined()
  expect(await bench.readRuns()).toMatchObject([{ status: 'ended', outcome: 'ok', attempts: 2 }])
  expect(scheduler.events().filter((event) => event.startsWith('database.'))).toEqual([
    'database.lost',
    'database.back',
  ])
})

const MINUTE = 60_000
const due = new Date('2026-11-19T18:00:00Z')
const timetable = openTimetable(nightly.cron, 'Asia/Shanghai')
const run: JobRun = {
  jobRunId: '1',
  job: 'nightly',
  localTime: '2026-11-20 02:00:00',
  isRepeat: false,
  dueAt: due,
  status: 'interrupted',
  outcome: null,
  attempts: 1,
  worker: 'a',
  runId: null,
  error: 'the database refuses',
  startedAt: due,
  finishedAt: new Date(due.getTime() + 90 * MINUTE),
}

const kindAt = (last: JobRun, atMs: number) =>
  decide(jobOf('nightly', nightly), timetable, { sinceMs: 0, last }, atMs).kind

test.each([
  [1, 1],
  [2, 5],
  [3, 15],
  [4, 60],
])('after %i attempts a run is left alone for %i minutes from its end on', (attempts, minutes) => {
  const endMs = due.getTime() + 90 * MINUTE
  const wait = minutes * MINUTE
  expect(kindAt({ ...run, attempts }, endMs + wait - 1)).toBe('none')
  expect(kindAt({ ...run, attempts }, endMs + wait)).toBe('resume')
})
