import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { status } from '../../src/emulator/fault-effects.ts'
import { addPage, beginSlice } from '../../src/pipeline/paged-progress.ts'
import { watchRecordsV1 } from '../../src/streams/watch-records-v1.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { autumn, DAY_MS, type OldRecords, startOldRecords } from '../helpers/old-records.ts'
import { pageOf } from '../helpers/scripted-pages.ts'
import type { TestPipeline } from '../helpers/start-pipeline.ts'

describe('a list that moves between two days', () => {
  let records: OldRecords
  let pipeline: TestPipeline
  beforeEach(async () => {
    records = await startOldRecords()
    pipeline = records.pipeline
  })
  afterEach(async () => await records[Symbol.asyncDispose]())

  test('a record that comes in before what has been read makes it moving, and it is read anew', async () => {
    records.set(23)
    await records.sync()
    records.add(900, autumn + 86_400)
    pipeline.clock.nowMs += DAY_MS
    const moved = await records.sync(20)
    expect(moved).toMatchObject({ status: 'ok', streams: { watch_records_v1: { slices: { moving: 1 } } } })
    expect((await records.readSlices()).find(({ proof }) => proof === 'moving')).toMatchObject({
      status: 'moving',
      error: 'page 2 changed between two days',
    })
    pipeline.clock.nowMs += DAY_MS
    expect(await records.sync(20)).toMatchObject({
      status: 'ok',
      streams: { watch_records_v1: { slices: { moving: 0 } } },
    })
    await expectTruth(pipeline, ['watch_records_v1'])
  })

  /** Ends a month before now. */
  const recently = (parseWallTime('2026-10-20') ?? 0) - 86_400

  test('a record that is gone from what has been read is noticed: in a range of the last year the last page is read again', async () => {
    records.set(23, recently)
    await records.sync()
    const putBack = records.removeYoungest()
    pipeline.clock.nowMs += DAY_MS
    expect(await records.sync(20)).toMatchObject({
      status: 'ok',
      streams: { watch_records_v1: { slices: { moving: 1 } } },
    })
    expect(records.pagesAsked().slice(0, 4)).toEqual([1, 2, 2, 3])
    expect((await records.readSlices()).find(({ proof }) => proof === 'moving')?.error).toBe(
      'page 2 changed between two days',
    )
    putBack()
    pipeline.clock.nowMs += DAY_MS
    await records.sync(20)
    await expectTruth(pipeline, ['watch_records_v1'])
  })

  test('one that stood still goes on, at the cost of a call', async () => {
    records.set(23, recently)
    await records.sync()
    pipeline.clock.nowMs += DAY_MS
    expect(await records.sync(20)).toMatchObject({
      status: 'ok',
      streams: { watch_records_v1: { slices: { moving: 0 } } },
    })
    expect(records.pagesAsked()).toEqual([1, 2, 2, 3, 4, 5])
    await expectTruth(pipeline, ['watch_records_v1'])
  })

  test('after a short pause nothing is read again', async () => {
    records.set(23, recently)
    pipeline.emulator.faults.push({ effect: status(503), endpoint: 'userRecords', page: 3, times: 2 })
    expect(await records.sync(20)).toMatchObject({ status: 'partial' })
    expect(await records.sync(20)).toMatchObject({ status: 'ok' })
    expect(records.pagesAsked()).toEqual([1, 2, 3, 3, 3, 4, 5])
  })
})

test.each<[string, readonly string[], number, string | undefined]>([
  ['new keys', ['4', '5', '6'], 3, undefined],
  ['a key that has come before', ['4', '3', '5'], 3, '1 rows of page 2 had come before'],
  ['more items than a full page', ['4', '5', '6', '7'], 4, 'page 2 has 4 rows, those before it had 3'],
])('page 2 with %s', (_what, keys, items, moved) => {
  const window = { from: autumn, to: autumn + 86_400 }
  const slice = { stream: watchRecordsV1, partition: { channel: '9' }, window, covers: window }
  const begun = beginSlice(slice, new Date(0))
  const read = (some: readonly string[]) => {
    const rows = some.map((key) => ({ record_id: key, entered_at: '2018-10-01 12:00:00' }))
    return { rows, keys: some, rejected: [], degraded: 0, unknownFields: new Set<string>() }
  }
  const before = { ...begun, pagesRead: 1, pageSize: 3, keys: new Set(['1', '2', '3']), foundRows: 3 }
  const after = addPage(before, slice, pageOf(Array.from({ length: items })), read(keys), 'Asia/Shanghai')
  expect(after).toMatchObject({ pagesRead: 2, moved, isLast: false, foundRows: after.keys.size })
})
