import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { quoteText } from '../../src/bi/quote.ts'
import { biViews } from '../../src/bi/registry.ts'
import type { BiView } from '../../src/bi/view.ts'
import { SCHEMA, schemaWords } from '../../src/bi/view-statements.ts'
import { allStreams } from '../../src/streams/registry.ts'
import { ofFile } from '../helpers/of-file.ts'
import { startFilled } from '../helpers/start-filled.ts'

const account = ofFile(startFilled)

test('dbt/sources.yml follows the declarations (update: npx vitest run test/e2e/dbt-sources.test.ts -u)', async () => {
  await expect(dbtSources(biViews)).toMatchFileSnapshot(join(import.meta.dirname, '../../dbt/sources.yml'))
})

test('freshness is that of the stream that landed longest ago, among channels that are still read', async () => {
  const { db } = account.database
  const read = async () =>
    (await sql<{ at: Date }>`select max(${sql.raw(OLDEST_LANDING)}) as at from livehouse_bi.freshness`.execute(db))
      .rows[0]?.at
  const old = '2020-01-01T00:00:00.000Z'
  const channel = account.emulator.channelIds[0] ?? ''
  await sql`update livehouse_ops.slices set finished_at = ${old}
    where stream = 'gifts' and partition like ${`channel=${channel}/%`}`.execute(db)
  expect((await read())?.toISOString()).toBe(old)
  await sql`update livehouse.channels set state = 'retired' where channel_id = ${channel}`.execute(db)
  expect((await read())?.getTime()).toBeGreaterThan(Date.parse('2026-01-01'))
})

const nullable = ['freshness.channel_id', 'reconciliation.channel_id', 'viewer_return_month.previous_month']
const nullableKeys = new Set(nullable)

/**
 * `sources.yml` for a dbt project: every view with descriptions of its columns, tests of its key and of its joins, and
 * a freshness check on the view `freshness`. It needs no dbt packages.
 */
function dbtSources(views: readonly BiView[]): string {
  const tables = views.map((view) => describeView(view, views))
  const sources = [{ name: SCHEMA, description: schemaWords.en, schema: SCHEMA, tables }]
  return `# Generated from the declarations: npx vitest run test/e2e/dbt-sources.test.ts -u
# Copy it into models/ of a dbt project whose target is this database (docs/bi-tools.md).
${stringify({ version: 2, sources }, { lineWidth: 0 })}`
}

function describeView(view: BiView, views: readonly BiView[]) {
  const { name, grain, remarks, key, columns } = view
  const meaning = `A row is: ${grain.en.charAt(0).toLowerCase()}${grain.en.slice(1)}. ${remarks.en}`
  const isKeyOfSeveral = key.length > 1 && !key.some((column) => nullableKeys.has(`${name}.${column}`))
  return {
    name,
    description: meaning.trim(),
    ...(name === 'freshness' && freshness),
    ...(isKeyOfSeveral && { meta: { unique_together: key } }),
    columns: Object.entries(columns).map(([column, { words }]) => {
      const tests = testsOf(view, column, views)
      return { name: column, description: words.en, ...(tests.length > 0 && { tests }) }
    }),
  }
}

const onlyWhenNamed = allStreams.flatMap(({ name, isBudgeted }) => (isBudgeted ? [quoteText(name)] : [])).join(', ')

/**
 * When the stream that landed longest ago did so, among channels that are still read and have not been read up to their
 * end. dbt takes the maximum of this expression.
 */
const OLDEST_LANDING =
  '(select min(f.last_landed_at) from livehouse_bi.freshness f left join livehouse_bi.dim_channel c using ' +
  '(channel_id) where (f.complete_through < f.covered_until) is not false ' +
  `and c.is_active is not false and f.stream not in (${onlyWhenNamed}))`

/** Warns when a nightly sync is two hours late, and fails when a second one is. */
const freshness = {
  loaded_at_field: OLDEST_LANDING,
  freshness: { warn_after: { count: 26, period: 'hour' }, error_after: { count: 50, period: 'hour' } },
}

function testsOf({ name, key }: BiView, column: string, views: readonly BiView[]) {
  const isKey = key.includes(column) && !nullableKeys.has(`${name}.${column}`)
  // A column with the name of a dimension's single key joins that dimension.
  const dimensions = views.filter((view) => view.name.startsWith('dim_') && view.name !== name)
  const joined = dimensions.filter((view) => view.key.join() === column)
  return [
    ...(isKey && key.length === 1 ? ['unique'] : []),
    ...(isKey ? ['not_null'] : []),
    ...joined.map(({ name: to }) => ({ relationships: { to: `source('${SCHEMA}', '${to}')`, field: column } })),
  ]
}
