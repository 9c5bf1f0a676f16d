import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { JobDefinition } from '../../src/core/define-job.ts'
import type { JobOutcome } from '../../src/scheduler/perform-run.ts'
import { JobLock } from '../../src/state/job-lock.ts'
import { createLockstepClock, type LockstepClock } from '../helpers/lockstep-clock.ts'
import { createTestDatabase, onServer, type TestDatabase } from '../helpers/postgres.ts'
import { doneWell, jobOf, startScheduler, type TestScheduler } from '../helpers/start-scheduler.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** 10:00 in Shanghai. */
const START = Date.parse('2026-11-20T02:00:00Z')
const nightly = { cron: '0 2 * * *' } as const

let database: TestDatabase
let clock: LockstepClock
let live: TestScheduler[]
/** When each run began, and which scheduler began it. */
let begun: { readonly at: string; readonly job: string; readonly worker: string }[]
/** What a run does; time stands meanwhile. */
let work: (signal: AbortSignal) => Promise<JobOutcome>
let atWork: number
let gridMs: number

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => await database[Symbol.asyncDispose]())
beforeEach(async () => {
  for (const table of ['jobs', 'job_runs', 'schedulers']) {
    await sql`delete from ${sql.table(`livehouse_ops.${table}`)}`.execute(database.db)
  }
  live = []
  begun = []
  work = async () => doneWell
  atWork = 0
  gridMs = HOUR
  clock = createLockstepClock({
    startMs: START,
    sleepers: () => live.length,
    isBusy: () => atWork > 0,
    gridMs: () => gridMs,
  })
})
afterEach(async () => {
  for (const scheduler of live) await scheduler.stop()
})

function start(definition: JobDefinition = nightly, worker = 'a'): TestScheduler {
  const job = jobOf('nightly', definition)
  const scheduler = startScheduler(
    database.db,
    clock,
    [job],
    async ({ name }, { signal }) => {
      begun.push({ at: new Date(clock.now()).toISOString().slice(0, 16), job: name, worker })
      atWork++
      return await work(signal).finally(() => atWork--)
    },
    worker,
  )
  live.push(scheduler)
  return scheduler
}

async function stop(scheduler: TestScheduler): Promise<void> {
  live = live.filter((each) => each !== scheduler)
  await scheduler.stop()
}

async function readRuns() {
  return await database.db
    .selectFrom('livehouse_ops.job_runs')
    .select(['local_time', 'status', 'outcome', 'attempts', 'error'])
    .orderBy('job_run_id')
    .execute()
}

const times = () => begun.map(({ at }) => at)

test('a job runs when it is due and at no other time; what lay before it was known is not caught up', async () => {
  start()
  await clock.runTo(START + 3 * DAY)
  expect(times()).toEqual(['2026-11-20T18:00', '2026-11-21T18:00', '2026-11-22T18:00'])
  expect(await readRuns()).toEqual(
    ['2026-11-21 02:00:00', '2026-11-22 02:00:00', '2026-11-23 02:00:00'].map((local_time) => {
      return { local_time, status: 'ended', outcome: 'ok', attempts: 1, error: null }
    }),
  )
})

test.each([
  ['once', ['2026-11-20T18:00', '2026-11-24T02:00', '2026-11-24T18:00'], 'ended'],
  ['never', ['2026-11-20T18:00', '2026-11-24T18:00'], 'skipped'],
] as const)('nights that were missed are made up for %s', async (catchUp, expected, status) => {
  const scheduler = start({ ...nightly, catchUp })
  await clock.runTo(START + DAY)
  await stop(scheduler)
  await clock.runTo(START + 4 * DAY)
  start({ ...nightly, catchUp })
  await clock.runTo(START + 5 * DAY)
  expect(times()).toEqual(expected)
  expect((await readRuns()).map(({ local_time, status }) => [local_time, status])).toEqual([
    ['2026-11-21 02:00:00', 'ended'],
    ['2026-11-24 02:00:00', status],
    ['2026-11-25 02:00:00', 'ended'],
  ])
})

test('a job that is not enabled does not run; once it is, what lay before is not caught up', async () => {
  const scheduler = start({ ...nightly, enabled: false })
  await clock.runTo(START + 2 * DAY)
  await stop(scheduler)
  expect(times()).toEqual([])
  start()
  await clock.runTo(START + 3 * DAY)
  expect(times()).toEqual(['2026-11-22T18:00'])
})

test('a job whose times have been edited is due by the new ones from then on', async () => {
  const scheduler = start()
  await clock.runTo(START + DAY)
  await stop(scheduler)
  // 05:00 has passed today, by a time that was not known then.
  start({ cron: '0 5 * * *' })
  await clock.runTo(START + DAY + 20 * HOUR)
  expect(times()).toEqual(['2026-11-20T18:00', '2026-11-21T21:00'])
})

test('a run that takes longer than the time between two overlaps with none, and is followed by one', async () => {
  const gate = Promise.withResolvers<void>()
  work = async () => {
    // Time passes while it works.
    atWork--
    await gate.promise
    atWork++
    return doneWell
  }
  gridMs = 30_000
  start({ cron: '*/15 * * * *' })
  await clock.runTo(START + 65 * 60_000)
  expect(times()).toEqual(['2026-11-20T02:15'])
  work = async () => doneWell
  gate.resolve()
  await clock.runTo(START + 76 * 60_000)
  // Of 02:30, 02:45 and 03:00 the last is made up for.
  expect(times().map((time) => time.slice(11))).toEqual(['02:15', expect.stringMatching(/^03:0[56]$/), '03:15'])
  expect((await readRuns()).map(({ local_time }) => local_time?.slice(11, 16))).toEqual(['10:15', '11:00', '11:15'])
})

test('of two on one database each time is run by one', async () => {
  gridMs = 15 * 60_000
  start({ cron: '*/15 * * * *' }, 'a')
  start({ cron: '*/15 * * * *' }, 'b')
  await clock.runTo(START + 10 * HOUR)
  expect(times()).toHaveLength(40)
  expect(new Set(times()).size).toBe(40)
})

test('a run that a signal interrupts is taken up again by whoever is there next', async () => {
  work = async (signal) => {
    atWork--
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    atWork++
    return { ...doneWell, status: 'partial' }
  }
  const scheduler = start()
  await clock.runTo(START + 17 * HOUR)
  await stop(scheduler)
  expect(await readRuns()).toMatchObject([{ local_time: '2026-11-21 02:00:00', status: 'interrupted', outcome: null }])
  work = async () => doneWell
  start()
  await clock.runTo(START + 18 * HOUR)
  expect(times()).toEqual(['2026-11-20T18:00', '2026-11-20T19:00'])
  expect(await readRuns()).toMatchObject([{ status: 'ended', outcome: 'ok', attempts: 2 }])
})

test('a run whose process died is taken up again, but not for ever', async () => {
  await stop(start())
  await database.db
    .insertInto('livehouse_ops.job_runs')
    .values({
      job: 'nightly',
      local_time: '2026-11-20 02:00:00',
      is_repeat: false,
      due_at: new Date('2026-11-19T18:00:00Z'),
      status: 'running',
      outcome: null,
      attempts: 3,
      worker: 'gone',
      error: null,
      started_at: new Date('2026-11-19T18:00:00Z'),
    })
    .execute()
  const runs: unknown[] = []
  for (let round = 0; round < 3; round++) {
    const scheduler = start()
    await clock.runTo(clock.now() + 60_000)
    await stop(scheduler)
    runs.push(...(await readRuns()))
    // As a process leaves it that dies.
    await sql`update livehouse_ops.job_runs set status = 'running' where status = 'ended'`.execute(database.db)
  }
  expect(times()).toHaveLength(2)
  expect(runs).toMatchObject([
    { status: 'ended', attempts: 4 },
    { status: 'ended', attempts: 5 },
    { status: 'skipped', attempts: 5, error: 'it was begun 5 times and never ended' },
  ])
})

test('while another process is at work on the job it is not begun', async () => {
  const lock = await JobLock.tryTake(database.db, 'nightly')
  start()
  await clock.runTo(START + 17 * HOUR)
  expect(times()).toEqual([])
  await lock?.[Symbol.asyncDispose]()
  await clock.runTo(START + 18 * HOUR)
  expect(times()).toHaveLength(1)
})

test('a clock that jumps forward makes up for the nights once, and one that jumps back repeats none', async () => {
  start()
  await clock.runTo(START + DAY)
  clock.jump(3 * DAY)
  await clock.runTo(START + 4 * DAY + HOUR)
  expect(times()).toHaveLength(2)
  clock.jump(-2 * HOUR)
  await clock.runTo(START + 5 * DAY)
  clock.jump(-20 * HOUR)
  await clock.runTo(START + 6 * DAY)
  expect(times()).toHaveLength(4)
  expect((await readRuns()).map(({ local_time }) => local_time)).toEqual([
    '2026-11-21 02:00:00',
    '2026-11-24 02:00:00',
    '2026-11-25 02:00:00',
    '2026-11-26 02:00:00',
  ])
})

test('a clock that was years ahead at the first start keeps no job from being due', async () => {
  clock.jump(1000 * DAY)
  start()
  await clock.runTo(START + 1000 * DAY + 60_000)
  clock.jump(-1000 * DAY)
  await clock.runTo(START + DAY)
  expect(times()).toEqual(['2026-11-20T18:00'])
})

test('a run that fails is told and written down, and the next night runs', async () => {
  work = async () => {
    throw new Error('no luck')
  }
  const scheduler = start()
  await clock.runTo(START + 2 * DAY)
  expect(await readRuns()).toMatchObject([
    { status: 'ended', outcome: 'failed', error: 'no luck' },
    { status: 'ended', outcome: 'failed', error: 'no luck' },
  ])
  expect(scheduler.events().filter((event) => event === 'job.failed')).toHaveLength(2)
})

test('a database that goes is waited for, and the run that it interrupted is taken up again', async () => {
  const allow = async (isAllowed: boolean) =>
    await onServer(async (admin) => {
      const name = sql.id(database.name)
      await sql`alter database ${name} with allow_connections ${sql.raw(String(isAllowed))}`.execute(admin)
      if (!isAllowed) {
        await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${database.name}`.execute(
          admin,
        )
      }
    })
  work = async () => {
    await allow(false)
    return await sql`select 1`.execute(database.db).then(() => doneWell)
  }
  const scheduler = start()
  await clock.runTo(START + 17 * HOUR)
  expect(scheduler.health.database()).toMatchObject({ isUp: false, problem: expect.stringContaining('Database') })
  work = async () => doneWell
  await allow(true)
  await clock.runTo(START + 18 * HOUR)
  expect(scheduler.health.database()).toMatchObject({ isUp: true, problem: undefined })
  expect(await readRuns()).toMatchObject([{ status: 'ended', outcome: 'ok', attempts: 2 }])
  expect(scheduler.events().filter((event) => event.startsWith('database.'))).toEqual([
    'database.lost',
    'database.back',
  ])
})

test('two with different job files are told of each other once', async () => {
  const first = start(nightly, 'a')
  await clock.runTo(START + 60_000)
  const second = start({ ...nightly, rereadDays: 30 }, 'b')
  await clock.runTo(START + HOUR)
  for (const scheduler of [first, second]) {
    expect(scheduler.events().filter((event) => event === 'jobs.differ')).toHaveLength(1)
  }
  await stop(second)
  const third = start(nightly, 'c')
  await clock.runTo(START + 2 * HOUR)
  expect(third.events()).not.toContain('jobs.differ')
})

test('what a running job tells reaches who listens', async () => {
  const scheduler = start()
  const heard: unknown[] = []
  scheduler.feed.listen(({ kind }) => heard.push(kind, scheduler.feed.running().length))
  await clock.runTo(START + DAY)
  expect(heard).toEqual(['job.started', 1, 'job.ended', 0])
})
