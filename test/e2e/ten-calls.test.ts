import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import type { Command } from '../../src/cli/command.ts'
import { ledger } from '../../src/cli/ledger.ts'
import { hang, meanwhile, refusal, withoutEmptyFields } from '../helpers/fault-effects.ts'
import { first, firstChannel } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { untilBlocked, untilExpired } from '../helpers/own-locks.ts'
import { type Child, startChild } from '../helpers/start-child.ts'
import { startV1Account, V1_BACKFILL } from '../helpers/v1-account.ts'

const DAY_MS = 86_400_000

/** In Shanghai, in milliseconds. The database has a real clock, which is behind that. */
const noonOfTomorrow = () => (Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS + 4 * 3_600_000

const account = ofTest(startV1Account)
const run = async (verb: Command, argv: readonly string[], settings = {}) => await account.runJson(verb, argv, settings)
const runBackfill = async (settings = {}) => await run(backfill, V1_BACKFILL, settings)

test('25 pages take three days of at most ten calls; each day first rereads where the last one stopped', async () => {
  account.setRecords(2420)
  // Most pages have no phone.
  account.emulator.faults.push({ effect: withoutEmptyFields(), endpoint: 'userRecords' })
  const firstRun = await runBackfill()
  expect(firstRun).toMatchObject({ code: 4, status: 'waiting', errors: [], resumes_at: '2026-11-20T16:05:00.000Z' })
  expect(firstRun.streams.watch_records_v1).toMatchObject({ calls: 10, inserted: 1000, slices: { failed: 0 } })
  const runs = await account.database.db.selectFrom('livehouse_ops.runs').select(['status', 'resumes_at']).execute()
  expect(runs).toEqual([{ status: 'waiting', resumes_at: new Date('2026-11-20T16:05:00Z') }])
  expect(await runBackfill()).toMatchObject({ code: 4, streams: { watch_records_v1: { calls: 0 } } })

  // Midnight, four minutes after it, and the first moment that is far enough from it.
  for (const [at, calls] of [
    ['2026-11-20T16:00:00Z', 0],
    ['2026-11-20T16:04:00Z', 0],
    ['2026-11-20T16:05:00Z', 10],
  ] as const) {
    account.clock.nowMs = Date.parse(at)
    expect((await runBackfill()).streams.watch_records_v1.calls, at).toBe(calls)
  }
  account.nextDay()
  const last = await runBackfill()
  expect(last).toMatchObject({ code: 0, status: 'ok', resumes_at: null })
  expect(last.streams.watch_records_v1).toMatchObject({ calls: 9, inserted: 520, slices: { unverifiable: 2 } })
  expect(account.callsByDay()).toEqual([10, 10, 9])
  const pages = Array.from({ length: 26 }, (_, index) => index + 1)
  expect(account.pagesOf()).toEqual(pages.flatMap((page) => (page === 10 || page === 19 ? [page, page] : page)))
  expect(account.callsOn46()[0]?.params).toMatchObject({
    start_time: '2018-08-31 23:59:00',
    end_time: '2018-12-01 00:01:00',
    filter_watch_time: 0,
    perPage: 100,
  })
  await account.expectTruth(['watch_records_v1'])
  const backfills = await account.database.db.selectFrom('livehouse_ops.backfills').select('status').execute()
  expect(backfills).toEqual([{ status: 'finished' }])
})

test("calls made while the service's clock is weeks ahead count for the day when it is right again", async () => {
  account.setRecords(2420)
  account.clock.nowMs = noonOfTomorrow()
  account.emulator.conditions.clockAheadMs = 40 * DAY_MS
  expect(await runBackfill()).toMatchObject({ code: 4 })
  account.emulator.conditions.clockAheadMs = 0
  expect(await runBackfill()).toMatchObject({ code: 4, streams: { watch_records_v1: { calls: 0 } } })
  account.nextDay()
  expect(await runBackfill()).toMatchObject({ code: 4, streams: { watch_records_v1: { calls: 10 } } })
  account.nextDay()
  expect(await runBackfill()).toMatchObject({ code: 0 })
  await account.expectTruth(['watch_records_v1'])
})

test("rows that may still change are read again even if the service's clock was ahead when read", async () => {
  account.clock.nowMs = noonOfTomorrow()
  account.setRecords(1210)
  const { oldRecords } = firstChannel(account.emulator)
  const enteredAt = account.hoursAgo(60)
  const young = { ...first(oldRecords.rows), recordId: '77', enteredAt, leftAt: enteredAt + 3600 }
  oldRecords.add(young)
  const streams = ['--streams', 'watch_records_v1']
  account.emulator.conditions.clockAheadMs = 4 * DAY_MS
  expect(await account.sync(streams)).toMatchObject({ code: 4 })
  account.emulator.conditions.clockAheadMs = 0
  oldRecords.replace(young, { ...young, leftAt: enteredAt + 7200 })
  account.nextDay()
  expect(await account.untilDone(async () => await account.sync(streams), 5)).toMatchObject({ code: 0 })
  account.nextDay()
  await account.sync(streams)
  await account.expectTruth(['watch_records_v1'])
})

test('with the budget by channel, each channel has ten calls', async () => {
  account.emulator.switches.v1BudgetScope = 'channel'
  account.setRecords(1210, 320)
  const settings = { LIVEHOUSE_V1_BUDGET_SCOPE: 'channel' }
  const streams = { watch_records_v1: { calls: 15, slices: { unverifiable: 1 } } }
  expect(await runBackfill(settings)).toMatchObject({ code: 4, streams })
  account.nextDay()
  expect(await runBackfill(settings)).toMatchObject({ code: 0 })
  expect(account.callsByDay()).toEqual([15, 5])
  await account.expectTruth(['watch_records_v1'])
})

test('a backfill of both versions reads version 1 of all channels, however far version 2 has come', async () => {
  account.setRecords(950, 120)
  const argv = [...V1_BACKFILL.slice(0, 4), '--streams', 'watch_records,watch_records_v1']
  expect(await account.untilDone(async () => await run(backfill, argv), 5)).toMatchObject({ code: 0 })
  await account.expectTruth(['watch_records_v1'])
})

test('a run in which another stream fails is partial, and still says when the rest resumes', async () => {
  account.setRecords(1210)
  account.emulator.faults.push({ effect: refusal(403_001), endpoint: 'visitorList' })
  expect(await account.sync('visitors,watch_records_v1')).toMatchObject({
    code: 3,
    status: 'partial',
    resumes_at: '2026-11-20T16:05:00.000Z',
    errors: [{ stream: 'visitors' }, { stream: 'visitors' }],
  })
})

test('an open slice is finished before another one begins, unless it is forgotten or restarted', async () => {
  account.setRecords(1210)
  const other = ['--from', '2018-06-01', '--to', '2018-07-01', '--streams', 'watch_records_v1']
  await runBackfill()
  account.nextDay()
  expect(await run(backfill, other)).toMatchObject({ code: 0 })
  expect(account.pagesOf().slice(10)).toEqual([10, 11, 12, 13, 14, 1])
  await account.expectTruth(['watch_records_v1'])

  account.nextDay()
  await run(backfill, [...V1_BACKFILL, '--restart'])
  // A half-read slice is resumed, or dropped and read from its beginning: never both.
  for (const flags of [[], ['--restart']]) {
    const { plan } = await run(backfill, [...V1_BACKFILL, ...flags, '--dry-run'])
    expect(plan.watch_records_v1.slices, flags.join()).toBe(2)
  }
  account.nextDay()
  await run(backfill, [...V1_BACKFILL, '--restart'])
  const tenPages = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
  // On the second day it is the other channel's turn first, which takes a call.
  expect(account.pagesOf().slice(16)).toEqual([...tenPages, ...tenPages.slice(0, -1)])
  await account.run(ledger, ['forget', '--from', '2018-10-01', '--to', '2018-10-02', '--streams', 'watch_records_v1'])
  expect(await account.database.db.selectFrom('livehouse_ops.open_slices').selectAll().execute()).toEqual([])
})

/**
 * `livehouse backfill` as a process of its own, with the real clock: it learns the service's day from the service.
 * `--only-gaps`, since a process that begins when all has landed would otherwise read the range once more.
 */
const startBackfill = (): Child => startChild(['backfill', ...V1_BACKFILL, '--only-gaps'], account.environment)

const readReserved = async () =>
  await account.database.db.selectFrom('livehouse_ops.call_budget').select('calls').execute()

async function kill(child: Child): Promise<void> {
  child.process.kill('SIGKILL')
  expect(await child.ended).toMatchObject({ signal: 'SIGKILL' })
}

/** Kills a process that has reserved a call and not made it, while its database commits. */
async function killBeforeCall(): Promise<void> {
  const { db } = account.database
  await sql`create function public.hold() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(4242); return null; end $$`.execute(db)
  await sql`create constraint trigger hold after insert on livehouse_ops.call_budget deferrable initially deferred
    for each row execute function public.hold()`.execute(db)
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(4242)`.execute(trx)
    const child = startBackfill()
    await untilBlocked(db, sql`locktype = 'advisory' and objid = 4242`, [child])
    await kill(child)
  })
  await untilExpired(db)
  expect(await readReserved()).toEqual([{ calls: 1 }])
  await sql`drop trigger hold on livehouse_ops.call_budget`.execute(db)
}

/** Kills a process at its next call, which the service counts and does not answer. */
async function killInCall(): Promise<void> {
  const child = startBackfill()
  const effect = { ...hang(), ...meanwhile(() => void child.process.kill('SIGKILL')) }
  account.emulator.faults.push({ effect, endpoint: 'userRecords', times: 1 })
  expect(await child.ended).toMatchObject({ signal: 'SIGKILL' })
  await untilExpired(account.database.db)
}

/** Kills a process that has a page and is about to write this of it: its rows, or how far the reading has come. */
async function killBeforeWriting(table: string): Promise<void> {
  await account.database.db.transaction().execute(async (trx) => {
    await sql`lock table ${sql.table(table)} in share mode`.execute(trx)
    const child = startBackfill()
    await untilBlocked(account.database.db, sql`relation = ${table}::regclass`, [child])
    await kill(child)
  })
  await untilExpired(account.database.db)
}

test('processes killed around a call, and two at once, make at most ten calls a day and lose no row', async () => {
  account.setRecords(810, 120)
  await killBeforeCall()
  await killInCall()
  await killBeforeWriting('livehouse.watch_records')
  await killBeforeWriting('livehouse_ops.open_slices')
  expect(account.callsByDay()).toEqual([3])
  expect(await readReserved()).toEqual([{ calls: 4 }])

  for (let day = 1; ; day++) {
    const exits = await Promise.all([startBackfill().ended, startBackfill().ended])
    expect(Math.max(...account.callsByDay())).toBeLessThanOrEqual(10)
    if (exits.every(({ code }) => code === 0)) break
    expect(exits.map(({ code }) => code).filter((code) => code !== 0 && code !== 4)).toEqual([])
    expect(day).toBeLessThan(4)
    account.nextDay()
  }
  // 13 pages, two of them empty. The killed processes cost four calls: one never made, and three whose page was lost.
  expect(account.callsOn46().length).toBeGreaterThanOrEqual(13 + 3)
  await account.expectTruth(['watch_records_v1'])
  const slices = await account.database.db.selectFrom('livehouse_ops.slices').select('distinct_rows').execute()
  // One that begins when the other has finished reads again.
  expect([...new Set(slices.map(({ distinct_rows: rows }) => rows))].sort()).toEqual(['120', '810'])
})
