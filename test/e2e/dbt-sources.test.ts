import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { dbtSources, OLDEST_LANDING } from '../helpers/dbt-sources.ts'
import { biViews } from '../../src/bi/registry.ts'
import { groupPersons } from '../../src/bi/publish/group-persons.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'
import { ofFile } from '../helpers/of-file.ts'

const pipeline = ofFile(() => startPipeline({ viewers: 60 }))

beforeAll(async () => {
  await pipeline.sync()
  await groupPersons(pipeline.database.db)
})

test('dbt/sources.yml is what the declarations say (mend it: npx vitest run test/e2e/dbt-sources.test.ts -u)', async () => {
  await expect(dbtSources(biViews)).toMatchFileSnapshot(join(import.meta.dirname, '../../dbt/sources.yml'))
})

test('freshness is that of the stream that landed the longest ago, of the channels that are still read', async () => {
  const { db } = pipeline.database
  const read = async () =>
    (await sql<{ at: Date }>`select max(${sql.raw(OLDEST_LANDING)}) as at from livehouse_bi.freshness`.execute(db))
      .rows[0]?.at
  const old = '2020-01-01T00:00:00.000Z'
  const channel = pipeline.emulator.channelIds[0] ?? ''
  await sql`update livehouse_ops.slices set finished_at = ${old}
    where stream = 'gifts' and partition like ${`channel=${channel}/%`}`.execute(db)
  expect((await read())?.toISOString()).toBe(old)
  await sql`update livehouse.channels set state = 'retired' where channel_id = ${channel}`.execute(db)
  expect((await read())?.getTime()).toBeGreaterThan(Date.parse('2026-01-01'))
})
