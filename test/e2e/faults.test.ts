import { expect, test } from 'vitest'
import {
  changedRows,
  changingTotal,
  html,
  ignoredPage,
  missingRow,
  noRows,
  refusal,
  status,
} from '../helpers/fault-effects.ts'
import type { Fault, FaultEffect } from '../../src/emulator/faults.ts'
import { ofTest } from '../helpers/of-file.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'

const pipeline = ofTest(startPipeline)

/** Faults of the first channel's visitor list. */
function breakVisitors(effect: FaultEffect, fault: Partial<Fault> = {}): void {
  const [channelId = ''] = pipeline.emulator.channelIds
  pipeline.emulator.faults.push({ effect, endpoint: 'visitorList', channelId, ...fault })
}

test.each<[string, FaultEffect]>([
  ['an HTML page', html(200)],
  ['a refusal for the moment', refusal(429001)],
])('%s that passes by is asked for again, and nothing is lost', async (_name, effect) => {
  breakVisitors(effect, { times: 2 })
  const result = await pipeline.sync({ streams: ['visitors'] })
  expect(result).toMatchObject({ status: 'ok', errors: [] })
  expect(result.streams.visitors?.counts.retries).toBe(2)
  await pipeline.expectTruth(['visitors'])
})

test.each<[string, FaultEffect, string]>([
  ['a server error', status(503), 'api.status'],
  ['a channel that the service does not know', refusal(404002), 'api.channelUnknown'],
  ['an account without the right', refusal(403002), 'api.forbidden'],
])('%s that lasts fails its partition alone, and the next run mends it', async (_name, effect, code) => {
  breakVisitors(effect)
  const result = await pipeline.sync()
  const [channelId = ''] = pipeline.emulator.channelIds
  expect(result.status).toBe('partial')
  expect(result.errors).toMatchObject([{ stream: 'visitors', partition: `channel=${channelId}`, code }])
  expect(result.streams.visitors?.slices).toMatchObject({ verified: 1, failed: 1 })
  await pipeline.expectTruth(['watch_records'])

  pipeline.emulator.faults.length = 0
  expect(await pipeline.sync()).toMatchObject({ status: 'ok', errors: [] })
  await pipeline.expectTruth()
})

test('a token that is refused ends the run: failed, told once', async () => {
  pipeline.emulator.faults.push({ effect: refusal(401001) })
  const result = await pipeline.sync()
  expect(result).toMatchObject({ status: 'failed', errors: [{ code: 'api.unauthorized' }] })
})

test('a service out of reach ends the run: failed, told once', async () => {
  await pipeline.emulator[Symbol.asyncDispose]()
  expect(await pipeline.sync()).toMatchObject({ status: 'failed', errors: [{ code: 'api.unreachable' }] })
})

test('too many unreadable rows fail the slice with samples, and are kept; where an operator expects as many, the others land', async () => {
  breakVisitors(changedRows((item, index) => (index < 30 ? { ...Object(item), user_id: '' } : item)))
  const options = { streams: ['visitors'] }
  const { status: ended, errors } = await pipeline.sync({ ...options, maxUnreadablePercent: 49.9 })
  expect([ended, errors]).toMatchObject(['partial', [{ code: 'rows.unreadable' }]])
  expect(errors[0]?.message).toMatch(/user_id is "".*raise LIVEHOUSE_MAX_UNREADABLE_PERCENT \(49\.9 now\)/s)
  const quarantined = pipeline.database.db.selectFrom('livehouse_ops.quarantine').select('raw')
  expect(await quarantined.execute()).toHaveLength(30)
  const result = await pipeline.sync({ ...options, maxUnreadablePercent: 50 })
  expect(result).toMatchObject({ status: 'ok', streams: { visitors: { counts: { inserted: 30, quarantined: 30 } } } })
})

test('one walk that falls short is repeated, and the next one proves itself', async () => {
  breakVisitors(missingRow(0), { times: 1, page: 1 })
  const result = await pipeline.sync({ streams: ['visitors'] })
  expect(result).toMatchObject({ status: 'ok', streams: { visitors: { slices: { verified: 2 } } } })
  await pipeline.expectTruth(['visitors'])
})

test('a list whose total moves in every answer is moving: green, and not called verified', async () => {
  breakVisitors(changingTotal())
  const result = await pipeline.sync({ streams: ['visitors'], pageSize: 25 })
  expect(result).toMatchObject({ status: 'ok', streams: { visitors: { slices: { verified: 1, moving: 1 } } } })
  await pipeline.expectTruth(['visitors'])
})

test('a service that ignores the page of a list with a total is an error, not the first page over and over', async () => {
  breakVisitors(ignoredPage())
  const result = await pipeline.sync({ streams: ['visitors'], pageSize: 25 })
  expect(result).toMatchObject({ status: 'partial', errors: [{ code: 'paging.ignored' }] })
})

test('an empty answer never blanks what is known of a channel', async () => {
  await pipeline.sync()
  breakVisitors(noRows())
  await pipeline.sync()
  await pipeline.expectTruth()
})
