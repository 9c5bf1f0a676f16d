import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { status } from '../../src/emulator/fault-effects.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { autumn, DAY_MS, type OldRecords, startOldRecords } from '../helpers/old-records.ts'
import type { TestPipeline } from '../helpers/start-pipeline.ts'

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
