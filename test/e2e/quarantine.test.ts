import { expect, test } from 'vitest'
import { foreignRow, missingRow, noRows } from '../helpers/fault-effects.ts'
import { startPipeline, type TestPipeline } from '../helpers/start-pipeline.ts'

const readResolved = async ({ database }: TestPipeline) =>
  (
    await database.db.selectFrom('livehouse_ops.quarantine').select(['raw', 'resolved_at']).orderBy('raw').execute()
  ).map(({ raw, resolved_at }) => [raw, resolved_at !== null])

const visitors = { streams: ['visitors'] } as const

function breakVisitors({ emulator }: TestPipeline, effect: ReturnType<typeof foreignRow>): void {
  emulator.faults.length = 0
  emulator.faults.push({ effect, endpoint: 'visitorList', channelId: emulator.channelIds[0] ?? '' })
}

test('an unreadable item that a later proven walk no longer brings is resolved, and unresolved when it is back', async () => {
  await using pipeline = await startPipeline()
  breakVisitors(pipeline, foreignRow('stray'))
  await pipeline.sync(visitors)
  expect(await readResolved(pipeline)).toEqual([['"stray"', false]])
  pipeline.emulator.faults.length = 0
  await pipeline.sync(visitors)
  expect(await readResolved(pipeline)).toEqual([['"stray"', true]])
  breakVisitors(pipeline, foreignRow('stray'))
  await pipeline.sync(visitors)
  expect(await readResolved(pipeline)).toEqual([['"stray"', false]])
})

test.each([
  ['a walk that falls short', missingRow(0)],
  ['an empty answer', noRows()],
])('%s resolves nothing', async (_name, effect) => {
  await using pipeline = await startPipeline({ viewers: 10 })
  breakVisitors(pipeline, foreignRow('stray'))
  await pipeline.sync(visitors)
  breakVisitors(pipeline, effect)
  await pipeline.sync(visitors)
  expect(await readResolved(pipeline)).toEqual([['"stray"', false]])
})
