import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { streams } from '../../src/streams/registry.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { startPipeline, type TestPipeline } from '../helpers/start-pipeline.ts'

/** Every row version of every stream's table: changes when anything at all is written. */
async function rowVersions({ database }: TestPipeline): Promise<readonly unknown[]> {
  const versions = await Promise.all(
    streams.map(({ table }) =>
      sql`select tableoid, ctid, xmin, changed_at::text from ${sql.table(`livehouse.${table}`)} order by ctid`.execute(
        database.db,
      ),
    ),
  )
  return versions.flatMap(({ rows }) => rows)
}

test('the first sync makes the tables equal to what the service has, value by value', async () => {
  await using pipeline = await startPipeline({ viewers: 250 })
  const result = await pipeline.sync()
  expect(result.errors).toEqual([])
  expect(result.status).toBe('ok')
  await expectTruth(pipeline)
})

test('a second sync inserts, updates and rewrites nothing', async () => {
  await using pipeline = await startPipeline()
  await pipeline.sync()
  const before = await rowVersions(pipeline)
  const result = await pipeline.sync()
  expect(await rowVersions(pipeline)).toEqual(before)
  for (const { name, isTimeFiltered } of streams) {
    expect(result.streams[name]?.counts, name).toMatchObject({ inserted: 0, updated: 0, removed: 0 })
    const held = pipeline.emulator.truth()[name].length
    const { unchanged = 0 } = result.streams[name]?.counts ?? {}
    // Of what is filtered by time only the lookback is read again.
    expect(isTimeFiltered ? unchanged < held : unchanged === held, name).toBe(true)
  }
})
