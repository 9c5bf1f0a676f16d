import { beforeAll, describe, expect, test } from 'vitest'
import { defaultSwitches, type Switches } from '../../src/emulator/switches.ts'
import { streams } from '../../src/streams/registry.ts'
import { ofFile } from '../helpers/of-file.ts'
import { type RowVersion, readRowVersions } from '../helpers/row-versions.ts'
import { type SyncOptions, startPipeline } from '../helpers/start-pipeline.ts'

// One warehouse, filled once: whatever the spec leaves open, the same world is the same rows, and nothing is written.
const pipeline = ofFile(() => startPipeline({ channels: 2, viewers: 40, seed: 4 }))
let filled: readonly RowVersion[]

beforeAll(async () => {
  await pipeline.sync()
  await pipeline.expectTruth()
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

describe('the same rows, and nothing written', () => {
  test.each([2, 51])('in pages of %i', async (pageSize) => {
    await expectNothingWritten({}, { pageSize })
  })

  test('in pages of one, where rows have an id', async () => {
    const keyed = streams.filter(({ identity }) => identity === undefined).map(({ name }) => name)
    await expectNothingWritten({}, { pageSize: 1, streams: keyed })
  })

  // Of each of them one value in one row at least; the pages above are of a service as it is by default.
  test.each<Partial<Switches>>([
    { rowOrder: 'time-asc', filterEnds: 'exclusive', emptyLists: 'null' },
    { visitorOrder: 'first-login', filterEnds: 'exclusive', recordFilterTime: 'leave', totals: 'text' },
    { rowOrder: 'id-asc', visitorOrder: 'watch-time', filterEnds: 'half-open', recordFilterTime: 'leave' },
    { rowOrder: 'id-desc', visitorOrder: 'user-id', beyondLastPage: 'error', errcodeStatus: 'ok' },
    { rowOrder: 'shuffled', visitorOrder: 'shuffled', beyondLastPage: 'error', errcodeStatus: 'matching' },
    { beyondLastPage: 'repeat-first', emptyLists: 'missing' },
    { beyondLastPage: 'repeat-last', questionnaireStatus: 'boolean' },
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
    await pipeline.expectTruth(['gifts'])
  }
})
