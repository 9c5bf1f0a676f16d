import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { StreamName } from '../../src/core/stream.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { startPipeline, type TestPipeline } from '../helpers/start-pipeline.ts'

interface LandedSlice {
  readonly rows: number
  readonly calls: number
}

/** The slices that held rows; what lies beside the history has none. */
async function readSlices({ database }: TestPipeline, stream: StreamName): Promise<readonly LandedSlice[]> {
  const { rows } = await sql<LandedSlice>`
    select distinct_rows::integer as rows, calls from livehouse_ops.slices
    where stream = ${stream} and distinct_rows > 0 order by lower(reads)`.execute(database.db)
  return rows
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)

describe('a list that is much too large for a slice', () => {
  // A list in no order tells the times of single rows only: cuts are less even, and some parts are cut again.
  test.each([
    ['time-desc', 1.15],
    ['time-asc', 1.15],
    ['shuffled', 2],
  ] as const)(
    'is cut into parts of about equally many rows, wherever in time they lie, in the order %s',
    async (order, mostCalls) => {
      await using pipeline = await startPipeline({ channels: 1, viewers: 1500, switches: { recordOrder: order } })
      const result = await pipeline.sync({ streams: ['watch_records'], pageSize: 10 })
      const slices = await readSlices(pipeline, 'watch_records')
      const rows = sumOf(slices.map((slice) => slice.rows))
      expect(slices.length).toBeGreaterThanOrEqual(5)
      expect(Math.max(...slices.map((slice) => slice.rows))).toBeLessThan(3 * 1.5 * 50 * 10)
      const { calls = 0 } = result.streams.watch_records?.counts ?? {}
      expect(calls).toBeLessThan(mostCalls * Math.ceil(rows / 10))
      await expectTruth(pipeline, ['watch_records'])
    },
  )

  test.each(['empty', 'repeat-last', 'error'] as const)(
    'is cut without a total too, where pages beyond the last are %s',
    async (beyondLastPage) => {
      await using pipeline = await startPipeline({ channels: 1, viewers: 6000, switches: { beyondLastPage } })
      await pipeline.sync({ streams: ['gifts'], pageSize: 3 })
      const slices = await readSlices(pipeline, 'gifts')
      expect(slices.length).toBeGreaterThan(2)
      expect(Math.max(...slices.map(({ rows }) => rows))).toBeLessThanOrEqual(3 * 60)
      await expectTruth(pipeline, ['gifts'])
    },
  )
})

test('a list that is hardly too large is not cut', async () => {
  await using pipeline = await startPipeline({ channels: 1, viewers: 280 })
  const result = await pipeline.sync({ streams: ['watch_records'], pageSize: 10 })
  const [slice, ...more] = await readSlices(pipeline, 'watch_records')
  expect(slice?.rows).toBeGreaterThan(500)
  expect(slice?.rows).toBeLessThanOrEqual(600)
  expect(more).toEqual([])
  expect(result.streams.watch_records?.counts.calls).toBeLessThanOrEqual(1 + Math.ceil((slice?.rows ?? 0) / 10))
})
