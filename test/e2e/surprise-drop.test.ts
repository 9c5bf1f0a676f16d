import { expect, test } from 'vitest'
import type { StreamName } from '../../src/core/stream.ts'
import { noRows, withheldRows } from '../../src/emulator/fault-effects.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { startPipeline, type TestPipeline } from '../helpers/start-pipeline.ts'

const streams: readonly StreamName[] = ['visitors', 'watch_records', 'gifts', 'signups', 'managers']

/** Two thirds of the rows are gone, and the total says so: a well-formed answer of a source that has lost its data. */
function aThird(): FaultEffect {
  let place = 0
  const kept = withheldRows(() => place++ % 3 !== 0)
  return {
    name: 'a third',
    answer: (answer) => {
      const body = kept.answer?.(answer).body
      if (body?.kind !== 'list') return answer
      const items = body.items()
      return { ...answer, body: { ...body, items: () => items, total: items.length } }
    },
  }
}

/** One channel of which every list has more than twenty rows, and all within the lookback. */
async function startFull(): Promise<TestPipeline> {
  const pipeline = await startPipeline({ channels: 1, viewers: 60, days: 1 })
  const [channel] = pipeline.emulator.world.channels.values()
  const gift = channel?.gifts.rows[0]
  const form = channel?.questionnaires.rows.find(({ signups }) => signups.rows.length > 0)
  const signup = form?.signups.rows[0]
  if (!channel || !gift || !form || !signup) throw new Error('the world is empty')
  for (let number = 0; number < 30; number++) {
    channel.gifts.add({ ...gift, type: 'cash', giftId: number }, { ...gift, type: 'prop', giftId: number })
    form.signups.add({ ...signup, userId: `more${number}` })
  }
  for (const other of channel.questionnaires.rows.filter((each) => each !== form)) channel.questionnaires.remove(other)
  return pipeline
}

test.each<[string, () => FaultEffect]>([
  ['an empty answer', noRows],
  ['an answer with a third of the rows', aThird],
])('%s where there were more is short in every stream, marks nobody, and the next sync goes on', async (_, effect) => {
  await using pipeline = await startFull()
  expect(await pipeline.sync()).toMatchObject({ status: 'ok', errors: [] })
  for (const endpoint of ['visitorList', 'userRecordList', 'giftRunning', 'signupRecord', 'managers'] as const) {
    pipeline.emulator.faults.push({ effect: effect(), endpoint })
  }
  for (let run = 0; run < 2; run++) {
    const result = await pipeline.sync()
    expect(result.status).toBe('partial')
    for (const stream of streams) {
      expect(result.streams[stream], stream).toMatchObject({ counts: { removed: 0 }, slices: { verified: 0 } })
      expect(result.errors, stream).toContainEqual(expect.objectContaining({ stream, code: 'slice.short' }))
    }
  }
  pipeline.emulator.faults.length = 0
  expect(await pipeline.sync()).toMatchObject({ status: 'ok', errors: [] })
  await expectTruth(pipeline, streams)
})

test('what is gone for good is believed an hour later', async () => {
  await using pipeline = await startFull()
  await pipeline.sync()
  const [channel] = pipeline.emulator.world.channels.values()
  for (const record of channel?.records.rows.slice(20) ?? []) channel?.records.remove(record)
  const only = { streams: ['watch_records'] } as const
  expect(await pipeline.sync(only)).toMatchObject({ status: 'partial', errors: [{ code: 'slice.short' }] })
  pipeline.clock.nowMs += 3_600_000
  expect(await pipeline.sync(only)).toMatchObject({ status: 'ok', errors: [] })
})
