import pLimit from 'p-limit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/core/log.ts'
import { openWallClock } from '../../src/core/wall-clock.ts'
import { connectionReset, foreignRow, noRows, status } from '../../src/emulator/fault-effects.ts'
import { createReadAhead } from '../../src/sync/read-ahead.ts'
import { runPagedSlice } from '../../src/sync/run-paged-slice.ts'
import type { RunDeps } from '../../src/sync/slice-work.ts'
import { forgetCoverage } from '../../src/ledger/coverage.ts'
import { watchRecordsV1 } from '../../src/streams/watch-records-v1.ts'
import { itemReader } from '../../src/transform/field.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { autumn, DAY_MS, type OldRecords, startOldRecords } from '../helpers/old-records.ts'
import { startPipeline, type TestPipeline, TIME_ZONE } from '../helpers/start-pipeline.ts'

/** For a slice that asks for nothing. */
const idleDeps: Omit<RunDeps, 'db' | 'clock'> = {
  fetchPage: async () => await Promise.reject(new Error('nothing is asked')),
  openItemReader: itemReader,
  log: silentLog,
  signal: new AbortController().signal,
  report: () => {},
  timeZone: TIME_ZONE,
  claimableMs: () => Number.POSITIVE_INFINITY,
  wallTimeAt: openWallClock(TIME_ZONE),
  runId: '1',
  readAhead: createReadAhead(1, createFakeClock()),
  requireLease: async () => {},
  loadLimit: pLimit(1),
  pagesPerSlice: 50,
}

let records: OldRecords
let pipeline: TestPipeline
beforeEach(async () => {
  records = await startOldRecords()
  pipeline = records.pipeline
})
afterEach(async () => await records[Symbol.asyncDispose]())

const readOpen = async () =>
  await pipeline.database.db.selectFrom('livehouse_ops.open_slices').selectAll().executeTakeFirst()
/** Runs day after day until nothing waits. @returns how each day ended */
async function syncForDays(): Promise<readonly string[]> {
  const ends: string[] = []
  for (let day = 1; day <= 10; day++) {
    const { status } = await records.sync()
    ends.push(status)
    if (status !== 'waiting') return ends
    pipeline.clock.nowMs += DAY_MS
  }
  return ends
}

test('what another run lands between the plan and the lease costs no call again', async () => {
  records.set(8)
  const late = await records.sync(10, {
    whenPlanned: async () => {
      pipeline.clock.nowMs += 1000
      expect(await records.sync(10)).toMatchObject({ status: 'ok' })
    },
  })
  expect(late).toMatchObject({ status: 'ok', streams: { watch_records_v1: { counts: { extracted: 0 } } } })
  expect(records.pagesAsked()).toEqual([1, 2, 3])
})

test('a slice goes on where it was the day before, and its entry in the ledger is that of all days', async () => {
  records.set(23)
  const first = await records.sync()
  // One of the three calls was for the youngest days.
  expect(first).toMatchObject({ status: 'waiting', errors: [], resumesAt: '2026-11-20T16:05:00.000Z' })
  expect(first.streams.watch_records_v1).toMatchObject({
    counts: { calls: 3, inserted: 10, extracted: 10 },
    slices: { unverifiable: 1, failed: 0 },
  })
  expect(await readOpen()).toMatchObject({ pages_read: 2, page_size: 5, calls: '2' })
  expect(await records.sync()).toMatchObject({
    status: 'waiting',
    streams: { watch_records_v1: { counts: { calls: 0 } } },
  })
  pipeline.clock.nowMs += DAY_MS
  expect(await syncForDays()).toEqual(['waiting', 'waiting', 'ok'])
  // Each day begins with another look at the last page.
  expect(records.pagesAsked()).toEqual([1, 2, 2, 3, 4, 4, 5, 6])
  expect(await readOpen()).toBeUndefined()
  expect((await records.readSlices()).filter(({ distinct_rows: rows }) => rows !== '0')).toEqual([
    { proof: 'unverifiable', status: 'landed', distinct_rows: '23', calls: '8', retries: '0', error: null },
  ])
  await expectTruth(pipeline, ['watch_records_v1'])
})

test('a full last page is followed by an empty one, or by itself again, which a look at another page size confirms', async () => {
  for (const beyond of ['empty', 'repeat-last'] as const) {
    pipeline.emulator.switches.beyondLastPage = beyond
    records.set(15)
    await forgetCoverage(pipeline.database.db, {
      streams: ['watch_records_v1'],
      channels: undefined,
      window: { from: 0, to: autumn * 2 },
    })
    const before = records.pagesAsked().length
    expect(await records.sync(100), beyond).toMatchObject({ status: 'ok' })
    expect(records.pagesAsked().slice(before), beyond).toEqual([1, 2, 3, 4, ...(beyond === 'empty' ? [] : [4])])
    pipeline.clock.nowMs += DAY_MS
  }
  await expectTruth(pipeline, ['watch_records_v1'])
})

describe('what goes wrong', () => {
  test('a lost connection costs two calls and is made good by the second', async () => {
    records.set(3)
    pipeline.emulator.faults.push({ effect: connectionReset(), endpoint: 'userRecords', times: 1 })
    expect(await records.sync(4)).toMatchObject({
      status: 'ok',
      streams: { watch_records_v1: { counts: { calls: 4, retries: 1 } } },
    })
  })

  test('twice in a row it fails the slice, which goes on from the page that it had; nothing new is begun before', async () => {
    records.set(23)
    await records.sync(3)
    pipeline.emulator.faults.push({ effect: status(503), endpoint: 'userRecords', times: 2 })
    const failed = await records.sync(6)
    expect(failed).toMatchObject({ status: 'partial', resumesAt: null, errors: [{ code: 'api.status' }] })
    expect(failed.streams.watch_records_v1?.counts).toMatchObject({ calls: 2, retries: 1 })
    expect(await records.sync(6)).toMatchObject({ status: 'waiting' })
    pipeline.clock.nowMs += DAY_MS
    await records.sync(10)
    expect(records.pagesAsked().slice(2)).toEqual([2, 2, 2, 2, 3, 4, 5, 6])
    await expectTruth(pipeline, ['watch_records_v1'])
  })

  test('an item that cannot be read goes to quarantine with its page, and counts in the ledger', async () => {
    records.set(13)
    pipeline.emulator.faults.push({
      effect: foreignRow({ nick: 'nobody' }),
      endpoint: 'userRecords',
      page: 2,
      times: 1,
    })
    const result = await records.sync(10)
    expect(result.streams.watch_records_v1?.counts).toMatchObject({ quarantined: 1, inserted: 12, extracted: 13 })
    const { rows } = { rows: await pipeline.database.db.selectFrom('livehouse_ops.slices').selectAll().execute() }
    expect(rows.at(-1)).toMatchObject({ distinct_rows: '12', quarantined_rows: '1' })
  })

  test('a range that is suddenly empty is short, not covered', async () => {
    records.set(30)
    await records.sync(100)
    await forgetCoverage(pipeline.database.db, {
      streams: ['watch_records_v1'],
      channels: undefined,
      window: { from: 0, to: autumn * 2 },
    })
    pipeline.emulator.faults.push({ effect: noRows(), endpoint: 'userRecords' })
    expect(await records.sync(100)).toMatchObject({ status: 'partial', errors: [{ code: 'slice.short' }] })
    expect((await records.readSlices()).at(-1)).toMatchObject({ proof: 'short', status: 'failed' })
  })
})

test('forgetting another partition leaves what is half read', async () => {
  records.set(23)
  await records.sync(3)
  const range = { streams: ['watch_records_v1'], channels: undefined, window: { from: 0, to: autumn * 2 } } as const
  await forgetCoverage(pipeline.database.db, { ...range, partition: 'channel=another' })
  expect(await readOpen()).toMatchObject({ pages_read: 2 })
  await forgetCoverage(pipeline.database.db, { ...range, partition: String((await readOpen())?.partition) })
  expect(await readOpen()).toBeUndefined()
})

test('by channel each has its own calls: one that waits does not stop the other', async () => {
  await using two = await startPipeline({ channels: 2, viewers: 5, days: 1 })
  two.emulator.switches.v1BudgetScope = 'channel'
  const options = {
    streams: ['watch_records_v1'],
    pageSize: 10,
    budget: { v1Budget: 3, v1BudgetScope: 'channel' },
  } as const
  const first = await two.sync(options)
  expect(first).toMatchObject({ status: 'waiting', streams: { watch_records_v1: { counts: { calls: 6 } } } })
  const budgets = await two.database.db.selectFrom('livehouse_ops.call_budget').select(['scope', 'calls']).execute()
  expect(budgets.map(({ calls }) => calls)).toEqual([3, 3])
  for (let day = 0; day < 5 && (await two.sync(options)).status === 'waiting'; day++) two.clock.nowMs += DAY_MS
  await expectTruth(two, ['watch_records_v1'])
})

test('for the account no channel is begun before the one before it has ended', async () => {
  await using two = await startPipeline({ channels: 2, viewers: 5, days: 1 })
  const options = { streams: ['watch_records_v1'], pageSize: 10, budget: { v1Budget: 4 } } as const
  expect(await two.sync(options)).toMatchObject({ status: 'waiting' })
  expect(await two.database.db.selectFrom('livehouse_ops.open_slices').select('partition').execute()).toHaveLength(1)
  for (let day = 0; day < 9; day++) {
    two.clock.nowMs += DAY_MS
    if ((await two.sync(options)).status !== 'waiting') break
    expect(
      (await two.database.db.selectFrom('livehouse_ops.open_slices').select('partition').execute()).length,
    ).toBeLessThanOrEqual(1)
  }
  await expectTruth(two, ['watch_records_v1'])
})

test('what another run has begun since this one was planned is ended first', async () => {
  records.set(23)
  await records.sync(3)
  const { db } = pipeline.database
  const window = { from: autumn, to: autumn + 60 }
  const slice = {
    stream: watchRecordsV1,
    partition: { channel: pipeline.emulator.channelIds[0] ?? '' },
    window,
    covers: window,
  }
  const deps = { ...idleDeps, db, clock: { now: () => pipeline.clock.nowMs, sleep: async () => {} } }
  const result = await runPagedSlice({ ...slice, backfillId: '7' }, deps)
  const parts = result.kind === 'cut' ? result.parts : []
  expect(parts.map(({ pagesRead, backfillId }) => [pagesRead, backfillId])).toEqual([
    [2, undefined],
    [undefined, '7'],
  ])
  // What it reads, a sync does not read again.
  const again = await runPagedSlice(slice, deps)
  expect(again).toMatchObject({ kind: 'cut', parts: [{ pagesRead: 2 }] })
})
