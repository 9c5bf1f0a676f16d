import { expect, test } from 'vitest'
import { DAY, floorToMinute, wallTimeAt } from '../../src/core/wall-clock.ts'
import { recordSlice } from '../../src/ledger/slices.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { startPipeline, TIME_ZONE } from '../helpers/start-pipeline.ts'

const HOUR = 3600

test('what was read while its rows still changed is read again, also when later hours have landed meanwhile', async () => {
  await using pipeline = await startPipeline({ channels: 1 })
  const { emulator, clock, database } = pipeline
  expect(await pipeline.sync({ streams: ['gifts'] })).toMatchObject({ status: 'ok' })
  const [channel] = emulator.world.channels.values()
  const [gift] = channel?.gifts.rows ?? []
  if (!channel || !gift) throw new Error('the world is empty')
  const late = { ...gift, givenAt: wallTimeAt(clock.nowMs, TIME_ZONE) - 20 * HOUR }
  channel.gifts.add(late)

  // The catch-up after an outage, newest first, ended after its first part; a backfill of this day does the same.
  clock.nowMs += 1.25 * DAY * 1000
  const now = floorToMinute(wallTimeAt(clock.nowMs, TIME_ZONE))
  const window = { from: now - 2 * HOUR, to: now - HOUR }
  const at = new Date(clock.nowMs)
  await recordSlice(database.db, {
    runId: '1',
    stream: 'gifts',
    partition: { channel: channel.id, type: gift.type },
    window,
    covers: window,
    settled: undefined,
    backfillId: undefined,
    proof: 'unverifiable',
    totals: undefined,
    distinctRows: 0,
    quarantinedRows: 0,
    calls: 1,
    retries: 0,
    isDrop: false,
    error: undefined,
    startedAt: at,
    finishedAt: at,
  })
  expect(await pipeline.sync({ streams: ['gifts'] })).toMatchObject({ status: 'ok' })
  await expectTruth(pipeline, ['gifts'])
})
