import { beforeAll, describe, expect, test } from 'vitest'
import { defaultSwitches, type RowOrder, type Switches } from '../../src/emulator/switches.ts'
import { streams } from '../../src/streams/registry.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { ofFile } from '../helpers/of-file.ts'
import { type RowVersion, readRowVersions } from '../helpers/row-versions.ts'
import { type SyncOptions, startPipeline } from '../helpers/start-pipeline.ts'

// One warehouse, filled once: whatever the spec leaves open, the same world is the same rows, and nothing is written.
const pipeline = ofFile(() => startPipeline({ channels: 2, viewers: 40, seed: 4 }))
let filled: readonly RowVersion[]

beforeAll(async () => {
  await pipeline.sync()
  await expectTruth(pipeline)
  filled = await readRowVersions(pipeline.database.db)
})

async function expectNothingWritten(switches: Partial<Switches>, options: SyncOptions = {}): Promise<void> {
  Object.assign(pipeline.emulator.switches, defaultSwitches, switches)
  // What is covered is forgotten, so that all of it is read again.
  await pipeline.database.db.deleteFrom('livehouse_ops.slices').execute()
  const result = await pipeline.sync(options)
  expect(result).toMatchObject({ status: 'ok', errors: [] })
  const names = options.streams ?? streams.map(({ name }) => name)
  for (const { name, isCounted } of streams.filter((stream) => names.includes(stream.name))) {
    const { counts, slices } = result.streams[name] ?? {}
    expect(counts, name).toMatchObject({ inserted: 0, updated: 0, removed: 0, quarantined: 0, degraded: 0 })
    expect(counts?.unchanged, name).toBe(pipeline.emulator.truth()[name]?.length)
    expect(isCounted ? slices?.unverifiable : slices?.verified, name).toBe(0)
    expect(slices?.moving, name).toBe(0)
  }
  expect(await readRowVersions(pipeline.database.db)).toEqual(filled)
}

type Orders = readonly [RowOrder, Switches['visitorOrder']]

describe('the same rows, and nothing written', () => {
  test.each([2, 51])('in pages of %i', async (pageSize) => {
    await expectNothingWritten({}, { pageSize })
  })

  test('in pages of one, where rows have an id', async () => {
    const keyed = streams.filter(({ identity }) => identity === undefined).map(({ name }) => name)
    await expectNothingWritten({}, { pageSize: 1, streams: keyed })
  })

  test.each<Orders>([
    ['time-asc', 'last-online'],
    ['time-desc', 'first-login'],
    ['id-asc', 'watch-time'],
    ['id-desc', 'user-id'],
    ['shuffled', 'shuffled'],
  ])('in the order %s, of visitors by %s', async (order, visitorOrder) => {
    await expectNothingWritten({ rowOrder: order, visitorOrder }, { pageSize: 8 })
  })

  test.each<Partial<Switches>>([
    { filterEnds: 'inclusive', recordFilterTime: 'entry' },
    { filterEnds: 'exclusive', recordFilterTime: 'entry' },
    { filterEnds: 'exclusive', recordFilterTime: 'leave' },
    { filterEnds: 'half-open', recordFilterTime: 'leave' },
    { beyondLastPage: 'empty' },
    { beyondLastPage: 'repeat-first' },
    { beyondLastPage: 'repeat-last' },
    { beyondLastPage: 'error', errcodeStatus: 'ok' },
    { beyondLastPage: 'error', errcodeStatus: 'matching' },
    { emptyLists: 'null' },
    { emptyLists: 'missing' },
    { totals: 'text' },
    { questionnaireStatus: 'boolean' },
  ])('with %j', async (switches) => {
    await expectNothingWritten(switches, { pageSize: 8 })
  })
})

test('the viewer of a gift may be told never, always or now and then: rows are updated in place, none is added', async () => {
  for (const giftVisitor of ['never', 'always', 'some'] as const) {
    Object.assign(pipeline.emulator.switches, defaultSwitches, { giftVisitor })
    await pipeline.database.db.deleteFrom('livehouse_ops.slices').execute()
    const result = await pipeline.sync({ streams: ['gifts'] })
    expect(result.streams.gifts?.counts).toMatchObject({ inserted: 0, removed: 0 })
    expect(result.streams.gifts?.counts.updated).toBeGreaterThan(0)
    await expectTruth(pipeline, ['gifts'])
  }
})
