import { afterEach, beforeEach, expect, test } from 'vitest'
import { foreignRow } from '../../src/emulator/fault-effects.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { forgetCoverage } from '../../src/state/coverage.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { autumn, type OldRecords, startOldRecords } from '../helpers/old-records.ts'
import type { TestPipeline } from '../helpers/start-pipeline.ts'

let records: OldRecords
let pipeline: TestPipeline
beforeEach(async () => {
  records = await startOldRecords()
  pipeline = records.pipeline
})
afterEach(async () => await records[Symbol.asyncDispose]())

/** Cuts pages to 20, whatever is asked for. */
const clamp: FaultEffect = { name: 'clamp', query: (query) => ({ ...query, pageSize: Math.min(query.pageSize, 20) }) }

const readOpen = async () =>
  await pipeline.database.db.selectFrom('livehouse_ops.open_slices').selectAll().executeTakeFirst()

test('forgetting another partition leaves what is half read', async () => {
  records.set(23)
  await records.sync(3)
  const range = { streams: ['watch_records_v1'], channels: undefined, window: { from: 0, to: autumn * 2 } } as const
  await forgetCoverage(pipeline.database.db, { ...range, partition: 'channel=another' })
  expect(await readOpen()).toMatchObject({ pages_read: 2 })
  await forgetCoverage(pipeline.database.db, { ...range, partition: String((await readOpen())?.partition) })
  expect(await readOpen()).toBeUndefined()
})

test('a service that cuts pages to its default size is read by that size', async () => {
  records.set(45)
  pipeline.emulator.faults.push({ effect: clamp, endpoint: 'userRecords' })
  expect(await records.sync(10, { pageSize: 100 })).toMatchObject({ status: 'ok' })
  expect(records.pagesAsked()).toEqual([1, 2, 3])
  await expectTruth(pipeline, ['watch_records_v1'])
})

test.each([
  [100, 100, false],
  [20, 100, true],
  [5, 5, false],
])(
  'a list of one full page of %d that comes again as page 2 (asked for %d, cut to 20: %s) has ended: one call more tells',
  async (count, pageSize, isCut) => {
    pipeline.emulator.switches.beyondLastPage = 'repeat-last'
    records.set(count)
    if (isCut) pipeline.emulator.faults.push({ effect: clamp, endpoint: 'userRecords' })
    expect(await records.sync(10, { pageSize })).toMatchObject({ status: 'ok', errors: [] })
    expect(records.pagesAsked()).toEqual([1, 2, 2])
    expect(await readOpen()).toBeUndefined()
    await expectTruth(pipeline, ['watch_records_v1'])
  },
)

test('so does one of which an item of the first half cannot be read', async () => {
  pipeline.emulator.switches.beyondLastPage = 'repeat-last'
  records.set(10)
  const unreadable: FaultEffect = foreignRow({ nick: 'nobody' })
  pipeline.emulator.faults.push({ effect: unreadable, endpoint: 'userRecords', page: 1 })
  pipeline.emulator.faults.push({ effect: unreadable, endpoint: 'userRecords', page: 2, times: 1 })
  expect(await records.sync(10, { pageSize: 10 })).toMatchObject({ status: 'ok', errors: [] })
  expect(records.pagesAsked()).toEqual([1, 2, 2])
})

test.each([
  [23, 5, false],
  [45, 100, true],
])(
  'a service that ignores the page parameter is an error, and only one call is spent on being sure: %d rows, asked for %d, cut to 20: %s',
  async (count, pageSize, isCut) => {
    records.set(count)
    const ignored: FaultEffect = { name: 'ignored page', query: (query) => ({ ...query, page: 1 }) }
    pipeline.emulator.faults.push({ effect: ignored, endpoint: 'userRecords' })
    if (isCut) pipeline.emulator.faults.push({ effect: clamp, endpoint: 'userRecords' })
    expect(await records.sync(10, { pageSize })).toMatchObject({
      status: 'partial',
      errors: [{ code: 'paging.ignored' }],
    })
    expect(records.pagesAsked()).toEqual([1, 2, 2])
  },
)
