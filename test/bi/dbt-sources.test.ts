import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dbtSources, OLDEST_LANDING } from '../../src/bi/dbt-sources.ts'
import { biViews } from '../../src/bi/registry.ts'
import { publishBi } from '../../src/bi/publish/publish-bi.ts'
import { startPipeline, type TestPipeline } from '../helpers/start-pipeline.ts'

let pipeline: TestPipeline

beforeAll(async () => {
  pipeline = await startPipeline({ viewers: 60 })
  await pipeline.sync()
  await publishBi(pipeline.database.db)
})

afterAll(async () => await pipeline[Symbol.asyncDispose]())

test('dbt/sources.yml is what the declarations say (mend it: npx vitest run test/bi/dbt-sources.test.ts -u)', async () => {
  await expect(dbtSources(biViews)).toMatchFileSnapshot(join(import.meta.dirname, '../../dbt/sources.yml'))
})

/** The tests of the file, as dbt would run them: rows that break one. */
function queriesOf(yaml: string): readonly (readonly [string, string])[] {
  let [view, column, target] = ['', '', '']
  return yaml.split('\n').flatMap((line): (readonly [string, string])[] => {
    const [, name = ''] = /name: (\w+)$/.exec(line) ?? []
    if (line.startsWith('      - name:')) view = name
    if (line.startsWith('          - name:')) column = name
    const source = `livehouse_bi.${view}`
    const together = /unique_together: \[(.*)\]/.exec(line)?.[1]
    target = /to: source\('livehouse_bi', '(\w+)'\)/.exec(line)?.[1] ?? target
    if (together !== undefined)
      return [[`${view} ${together}`, `select ${together} from ${source} group by ${together} having count(*) > 1`]]
    if (line.endsWith('- unique'))
      return [[`${view}.${column} unique`, `select ${column} from ${source} group by 1 having count(*) > 1`]]
    if (line.endsWith('- not_null'))
      return [[`${view}.${column} not_null`, `select from ${source} where ${column} is null`]]
    const field = /^ +field: (\w+)$/.exec(line)?.[1]
    if (field === undefined) return []
    const query = `select from ${source} where ${column} is not null and ${column} not in (select ${field} from livehouse_bi.${target})`
    return [[`${view}.${column} in ${target}`, query]]
  })
}

test('each of its tests holds on what a sync has landed', async () => {
  const queries = queriesOf(dbtSources(biViews))
  expect(queries.length).toBeGreaterThan(60)
  const broken: string[] = []
  for (const [name, query] of queries) {
    const { rows } = await sql.raw(query).execute(pipeline.database.db)
    if (rows.length > 0) broken.push(`${name}: ${rows.length}`)
  }
  expect(broken).toEqual([])
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
