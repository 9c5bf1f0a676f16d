import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { audit } from '../../src/cli/audit.ts'
import { migrate } from '../../src/cli/migrate.ts'
import { loadMigrations, migrateUp } from '../../src/store/migrate.ts'
import { expectKeptDays } from '../helpers/expect-kept-days.ts'
import { startAccount } from '../helpers/start-account.ts'

/** The newest migration of version 0.1.0. */
const LAST = '0024-indexes-of-runs'
/** What 0.1.0 had written after a sync of the world of this test. */
const rowsOfRelease = readFileSync(join(import.meta.dirname, '../helpers/release-0.1.0.sql'), 'utf8')

test('what 0.1.0 has written is whole after the upgrade, after going back, and after another upgrade', async () => {
  await using account = await startAccount({ isMigrated: false, channels: 1, viewers: 20 })
  const { database, emulator, clock, run } = account
  const { db } = database
  const migrations = Object.entries(await loadMigrations())
  await migrateUp(db, { migrations: Object.fromEntries(migrations.filter(([name]) => name <= LAST)) })
  const readColumns = async () =>
    (
      await sql`select table_schema, table_name, column_name, data_type, is_nullable from information_schema.columns
        where table_schema like 'livehouse%' order by table_schema, table_name, column_name`.execute(db)
    ).rows
  const columnsOfRelease = await readColumns()
  await sql.raw(rowsOfRelease).execute(db)
  await sql`update livehouse_ops.source set base_url = ${emulator.baseUrl}`.execute(db)

  const { rows: read } = await sql<{ stream: string }>`select distinct stream from livehouse_ops.slices`.execute(db)
  const names = read.map(({ stream }) => stream)
  expect(names.length).toBeGreaterThan(6)
  const { code, streams } = await account.sync()
  expect(code).toBe(0)
  await account.expectTruth()
  const unchanged = { inserted: 0, updated: 0, removed: 0 }
  for (const name of names) expect([name, streams[name]]).toMatchObject([name, unchanged])
  expect(await run(audit)).toMatchObject({ code: 0 })

  const newer = migrations.filter(([name]) => name > LAST)
  for (const [name] of newer.toReversed())
    expect((await run(migrate, ['down'])).printed).toEqual([`taken back: ${name}`])
  expect(await readColumns()).toEqual(columnsOfRelease)
  await account.expectTruth(names)

  expect(await run(migrate, ['up'])).toMatchObject({ code: 0 })
  expect(await expectKeptDays(db)).toMatchObject({ changed: 0 })
  clock.passHours(2)
  expect(await account.sync()).toMatchObject({ code: 0 })
  await account.expectTruth()
})
