import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import type { QueuedRun } from '../../src/scheduler/perform-run.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { ofTest } from '../helpers/of-file.ts'
import { untilRow } from '../helpers/own-locks.ts'
import { DAY, HOUR, nightly, START, startSchedulerBench } from '../helpers/scheduler-bench.ts'
import { jobOf, startScheduler } from '../helpers/start-scheduler.ts'

const bench = ofTest(startSchedulerBench)

test('what lay before a job was known is not made up for; of the nights that were missed the last one is', async () => {
  const scheduler = bench.start()
  await bench.clock.runTo(START + DAY)
  await bench.stop(scheduler)
  await bench.clock.runTo(START + 4 * DAY)
  bench.start()
  await bench.clock.runTo(START + 5 * DAY)
  expect(bench.times()).toEqual(['2026-11-20T18:00', '2026-11-24T02:00', '2026-11-24T18:00'])
  expect(bench.ticks()).toEqual(['2026-11-21 02:00:00', '2026-11-24 02:00:00', '2026-11-25 02:00:00'])
})

test('a job whose zone has been edited is due at that wall time of the other zone, and nothing twice', async () => {
  const scheduler = bench.start()
  await bench.clock.runTo(START + DAY - HOUR)
  await bench.stop(scheduler)
  const moved = bench.start({ ...nightly, timezone: 'UTC' })
  await bench.clock.runTo(START + DAY + HOUR)
  await bench.stop(moved)
  bench.start()
  await bench.clock.runTo(START + DAY + 18 * HOUR)
  await bench.clock.runTo(START + 2 * DAY + 18 * HOUR)
  expect(bench.times()).toEqual(['2026-11-20T18:00', '2026-11-21T02:00', '2026-11-21T18:00', '2026-11-22T18:00'])
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
  expect(bench.ticks()).toEqual([
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
  expect(bench.ticks().map((tick) => tick.slice(0, 10))).toEqual([
    '2026-11-21',
    '2026-11-24',
    '2026-11-22',
    '2026-11-23',
    '2026-11-25',
  ])
})

test('a database that goes is waited for, and what was due is queued when it is back', async () => {
  const { db } = bench.database
  const clock = createFakeClock({ startMs: START })
  let tries = 0
  const sent: QueuedRun[] = []
  const send = async (run: QueuedRun) => {
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
