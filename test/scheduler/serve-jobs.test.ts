import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { openDatabase } from '../../src/store/pool.ts'
import { startRun } from '../../src/ledger/runs.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { untilRow } from '../helpers/own-locks.ts'
import { DAY, HOUR, nightly, type SchedulerBench, START, startSchedulerBench } from '../helpers/scheduler-bench.ts'
import { startStallingProxy } from '../helpers/stalling-proxy.ts'
import { doneWell, jobOf, startScheduler } from '../helpers/start-scheduler.ts'

let bench: SchedulerBench

beforeAll(async () => {
  bench = await startSchedulerBench()
})
beforeEach(async () => await bench.reset())
afterAll(async () => await bench[Symbol.asyncDispose]())

test('a job runs when it is due and at no other time; what lay before it was known is not caught up', async () => {
  bench.start()
  await bench.clock.runTo(START + 3 * DAY)
  expect(bench.times()).toEqual(['2026-11-20T18:00', '2026-11-21T18:00', '2026-11-22T18:00'])
  expect(await bench.readRuns()).toEqual(
    ['2026-11-21 02:00:00', '2026-11-22 02:00:00', '2026-11-23 02:00:00'].map((local_time) => {
      return { local_time, status: 'ended', outcome: 'ok', attempts: 1, error: null }
    }),
  )
})

test.each([
  ['once', ['2026-11-20T18:00', '2026-11-24T02:00', '2026-11-24T18:00'], 'ended'],
  ['never', ['2026-11-20T18:00', '2026-11-24T18:00'], 'skipped'],
] as const)('nights that were missed are made up for %s', async (catchUp, expected, status) => {
  const scheduler = bench.start({ ...nightly, catchUp })
  await bench.clock.runTo(START + DAY)
  await bench.stop(scheduler)
  await bench.clock.runTo(START + 4 * DAY)
  bench.start({ ...nightly, catchUp })
  await bench.clock.runTo(START + 5 * DAY)
  expect(bench.times()).toEqual(expected)
  expect((await bench.readRuns()).map(({ local_time, status }) => [local_time, status])).toEqual([
    ['2026-11-21 02:00:00', 'ended'],
    ['2026-11-24 02:00:00', status],
    ['2026-11-25 02:00:00', 'ended'],
  ])
})

test('a job whose zone has been edited is due at the same wall time of the other zone, and nothing runs twice', async () => {
  const scheduler = bench.start()
  await bench.clock.runTo(START + DAY - HOUR)
  await bench.stop(scheduler)
  const moved = bench.start({ ...nightly, timezone: 'UTC' })
  await bench.clock.runTo(START + DAY + HOUR)
  await bench.stop(moved)
  bench.start()
  await bench.clock.runTo(START + DAY + 18 * HOUR)
  // Another name of the same zone, in one of two processes.
  bench.start({ ...nightly, timezone: 'PRC' }, 'b')
  await bench.clock.runTo(START + 2 * DAY + 18 * HOUR)
  expect(bench.times()).toEqual(['2026-11-20T18:00', '2026-11-21T02:00', '2026-11-21T18:00', '2026-11-22T18:00'])
})

test('a run that takes longer than the time between two overlaps with none, and is followed by one', async () => {
  const gate = Promise.withResolvers<void>()
  bench.work = async () => {
    await gate.promise
    return doneWell
  }
  bench.gridMs = 30_000
  bench.start({ cron: '*/15 * * * *' })
  await bench.clock.runTo(START + 65 * 60_000)
  expect(bench.times()).toEqual(['2026-11-20T02:15'])
  bench.work = async () => doneWell
  gate.resolve()
  while ((await bench.readRuns())[0]?.status !== 'ended') await new Promise(setImmediate)
  await bench.clock.runTo(START + 76 * 60_000)
  // Of 02:30, 02:45 and 03:00 the last is made up for, before 03:15; simulated time goes on while the end is being written down.
  const madeUpFor = expect.stringMatching(/^03:(0[5-9]|1[0-4])$/)
  expect(bench.times().map((time) => time.slice(11))).toEqual(['02:15', madeUpFor, '03:15'])
  expect((await bench.readRuns()).map(({ local_time }) => local_time?.slice(11, 16))).toEqual([
    '10:15',
    '11:00',
    '11:15',
  ])
})

test('a clock that jumps forward makes up for the nights once, and one that jumps back repeats none', async () => {
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
  expect((await bench.readRuns()).map(({ local_time }) => local_time)).toEqual([
    '2026-11-21 02:00:00',
    '2026-11-24 02:00:00',
    '2026-11-25 02:00:00',
    '2026-11-26 02:00:00',
  ])
})

test('a clock that was ahead and is put right uses up what it ran, and no night before that', async () => {
  bench.start()
  await bench.clock.runTo(START + DAY)
  bench.clock.nowMs += 3 * DAY
  await bench.clock.runTo(START + 4 * DAY + HOUR)
  bench.clock.nowMs -= 3 * DAY
  await bench.clock.runTo(START + 5 * DAY)
  expect((await bench.readRuns()).map(({ local_time }) => local_time?.slice(0, 10))).toEqual([
    '2026-11-21',
    '2026-11-24',
    '2026-11-22',
    '2026-11-23',
    '2026-11-25',
  ])
})

test('a disk that is full is told of, and what it stopped is gone on with once there is room', async () => {
  const { db } = bench.database
  const makeRoom = async () => void (await sql`drop function if exists public.disk_full() cascade`.execute(db))
  onTestFinished(makeRoom)
  bench.work = async () => {
    await sql`create function public.disk_full() returns trigger language plpgsql as $$ begin
      raise exception 'No space left on device' using errcode = '53100'; end $$`.execute(db)
    for (const table of ['runs', 'schedulers']) {
      await sql`create trigger disk_full before insert on ${sql.table(`livehouse_ops.${table}`)} execute function public.disk_full()`.execute(
        db,
      )
    }
    await startRun(db, { command: 'run nightly', settings: {}, startedAt: new Date(START) })
    return doneWell
  }
  const scheduler = bench.start()
  await bench.clock.runTo(START + 18 * HOUR)
  expect(await bench.readRuns()).toMatchObject([
    { status: 'interrupted', error: expect.stringContaining('Its disk is full') },
  ])
  expect(scheduler.databaseProblem()).toEqual(expect.stringContaining('Its disk is full'))
  await makeRoom()
  bench.work = async () => doneWell
  await bench.clock.runTo(START + 20 * HOUR)
  expect(await bench.readRuns()).toMatchObject([{ status: 'ended', outcome: 'ok', attempts: 2, error: null }])
  expect(scheduler.databaseProblem()).toBeUndefined()
})

test('a database that hangs is noticed by looks and runs alike, and what it stopped is gone on with when it answers', async () => {
  await using proxy = await startStallingProxy(bench.database.url)
  await using db = await openDatabase(proxy.url, { silentAfterMs: 100 })
  const clock = createFakeClock({ startMs: START })
  let isFirst = true
  const runJob = async () => {
    if (isFirst) proxy.stall()
    isFirst = false
    return await sql`select 1`.execute(db).then(() => doneWell)
  }
  const scheduler = startScheduler(db, clock, [jobOf('nightly', nightly)], runJob)
  await untilRow(db, sql`select from livehouse_ops.jobs`)
  await clock.advance(17 * HOUR)
  const whileTimePasses = async (check: () => unknown) =>
    await vi.waitFor(async () => {
      await clock.advance(5000)
      await check()
    }, 120_000)
  await whileTimePasses(() => expect(scheduler.databaseProblem()).toBeDefined())
  expect(scheduler.databaseProblem()).toContain('it has not answered for 1 s')
  proxy.goOn()
  await whileTimePasses(async () =>
    expect(await bench.readRuns()).toMatchObject([{ status: 'ended', outcome: 'ok', attempts: 2 }]),
  )
  expect(scheduler.databaseProblem()).toBeUndefined()
  expect(scheduler.events().filter((event) => event.startsWith('database.'))).toEqual([
    'database.lost',
    'database.back',
  ])
  await scheduler.stop()
})
