import { expect, test } from 'vitest'
import { openWarehouse } from '../../src/cli/warehouse.ts'
import type { DatabaseSettings } from '../../src/config.ts'
import { readPending } from '../../src/db/migrate.ts'
import type { Source } from '../../src/state/source.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const source: Source = { baseUrl: 'https://api.example.com', appId: 'app-1', timeZone: 'Asia/Shanghai' }

function settingsFor(url: string, isAutoMigrated = true): DatabaseSettings {
  return { target: { kind: 'url', url }, dataDir: '/nowhere', isAutoMigrated }
}

test('opening migrates, claims the source and says which database it is, without the password', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const { context, printed, remarked } = createTestContext()
  await using db = await openWarehouse(context, { settings: settingsFor(database.url), source })
  expect(await readPending(db)).toEqual([])
  expect(await db.selectFrom('livehouse_ops.source').select('app_id').execute()).toEqual([{ app_id: 'app-1' }])
  const { host } = new URL(database.url)
  expect(remarked[0]).toBe(`database: ${host}/${database.name} (DATABASE_URL)`)
  expect(remarked.slice(1)).toEqual([expect.stringMatching(/^migrated: 0001-operations/)])
  expect(printed).toEqual([])
})

test('told not to migrate, it stops before anything is made', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const { context } = createTestContext()
  const opening = openWarehouse(context, { settings: settingsFor(database.url, false), source })
  await expect(opening).rejects.toMatchObject({ code: 'db.pendingMigrations' })
  expect(await readPending(database.db)).toContain('0001-operations')
})

test('another source is refused; a verb without one may look', async () => {
  await using database = await createTestDatabase()
  const { context } = createTestContext()
  const settings = settingsFor(database.url)
  await (await openWarehouse(context, { settings, source })).destroy()
  const other = openWarehouse(context, { settings, source: { ...source, appId: 'app-2' } })
  await expect(other).rejects.toMatchObject({ code: 'db.otherSource' })
  await using db = await openWarehouse(context, { settings, source: undefined })
  expect(await db.selectFrom('livehouse_ops.source').select('app_id').execute()).toEqual([{ app_id: 'app-1' }])
})
