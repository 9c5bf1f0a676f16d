import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openWarehouse } from '../../src/app/open-warehouse.ts'
import type { DatabaseSettings } from '../../src/app/settings.ts'
import { forms } from '../../src/cli/forms.ts'
import { labels } from '../../src/cli/labels.ts'
import { migrate } from '../../src/cli/migrate.ts'
import { sync } from '../../src/cli/sync.ts'
import { readSource, type Source } from '../../src/ledger/source.ts'
import { readPending } from '../../src/store/migrate.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { startAccount } from '../helpers/start-account.ts'

const source: Source = { baseUrl: 'https://api.example.com', appId: 'app-1', timeZone: 'Asia/Shanghai' }

function settingsFor(url: string, isAutoMigrated = true): DatabaseSettings {
  return { target: { kind: 'url', url }, dataDir: '/nowhere', isAutoMigrated }
}

test('opening migrates only if it may, claims no source, and names the database without its password', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const { context, printed, remarks } = createTestContext()
  const opening = openWarehouse(context, settingsFor(database.url, false), source)
  await expect(opening).rejects.toMatchObject({ code: 'db.pendingMigrations' })
  expect(await readPending(database.db)).toContain('0001-operations')

  remarks.length = 0
  await using db = await openWarehouse(context, settingsFor(database.url), source)
  expect(await readPending(db)).toEqual([])
  expect(await readSource(db)).toBeUndefined()
  const { host } = new URL(database.url)
  expect(remarks).toEqual([
    `database: ${host}/${database.name} (DATABASE_URL)`,
    expect.stringMatching(/^migrated: \d\d migrations, up to 00\d\d-[a-z-]+$/),
  ])
  expect(printed).toEqual([])
})

const NO_MIGRATION = { LIVEHOUSE_AUTO_MIGRATE: '0' }

test('without automatic migration outdated views are reported and left alone; a new mask applies at once', async () => {
  await using account = await startAccount({ isPublished: false })
  const { db } = account.database
  const readViews = async () => {
    const { rows } = await sql<{ schemas: string[]; masked: string[] }>`
      select array(select nspname::text from pg_namespace
        where nspname in ('livehouse_bi', 'livehouse_forms') order by 1) as schemas, masked
      from livehouse_ops.bi_settings`.execute(db)
    return rows[0]
  }
  const readRemarks = async (settings: Readonly<Record<string, string>>) => {
    const { code, remarks } = await account.run(labels, ['export'], settings)
    expect(code).toBe(0)
    return remarks.slice(1).join('\n')
  }
  expect(await account.run(sync, [], NO_MIGRATION)).toMatchObject({ code: 0 })
  expect(await readRemarks(NO_MIGRATION)).toBe(
    'Not up to date: the views livehouse_bi. LIVEHOUSE_AUTO_MIGRATE is 0, so they stay as they are. ' +
      'Run `livehouse migrate up`, or let a DBA run the output of `livehouse migrate sql`.',
  )
  await readRemarks({ ...NO_MIGRATION, LIVEHOUSE_MASK: 'phone' })
  expect(await readViews()).toEqual({ schemas: [], masked: ['phone'] })

  await account.run(migrate, ['up'], NO_MIGRATION)
  expect(await readRemarks(NO_MIGRATION)).toBe('')
  const { rows } = await sql<{ channel: string; question: string }>`
    select channel_id as channel, question_id as question
    from livehouse.signups group by 1, 2 order by count(*) desc limit 1`.execute(db)
  const [{ channel, question } = { channel: '', question: '' }] = rows
  // A form that the command names is published all the same.
  expect(await account.run(forms, ['publish', question, '--channel', channel], NO_MIGRATION)).toMatchObject({ code: 0 })
  const columns = async () => {
    const { rows: counts } = await sql<{ count: number }>`
      select count(*)::integer as count from pg_attribute a join pg_class c on c.oid = a.attrelid and a.attnum > 0
      where c.relnamespace = 'livehouse_forms'::regnamespace`.execute(db)
    return counts[0]?.count
  }
  const before = await columns()
  await sql`update livehouse_ops.headers set title = jsonb_insert(title, '{3}', '"new"')
    where partition = ${`channel=${channel}/question=${question}`}`.execute(db)
  expect(await readRemarks(NO_MIGRATION)).toMatch(/^Not up to date: the views form_\w+\. LIVEHOUSE_AUTO/)
  expect(await account.run(sync, ['--streams', 'gifts'], NO_MIGRATION)).toMatchObject({ code: 0 })
  expect(await columns()).toBe(before)
  expect(await account.run(sync, ['--streams', 'gifts'])).toMatchObject({ code: 0 })
  expect(await columns()).toBe((before ?? 0) + 1)
  await sql`update livehouse_ops.bi_settings set fingerprint = 'older'`.execute(db)
  expect(await readRemarks(NO_MIGRATION)).toMatch(/^Not up to date: the views livehouse_bi\./)
})
