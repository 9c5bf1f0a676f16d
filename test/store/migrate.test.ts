import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { migrateDown } from '../../src/bi/publish/migrate-down.ts'
import { Leases } from '../../src/ledger/leases/leases.ts'
import { openRun } from '../../src/ledger/runs/runs.ts'
import { lockName } from '../../src/store/lock-name.ts'
import { loadMigrations, migrateUp, requireMigrated } from '../../src/store/migrate.ts'
import { createMigrationTables, takeMigrationLock, withMigrationLock } from '../../src/store/migration-lock.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { errorOf } from '../helpers/connect-client.ts'
import { describeSchema } from '../helpers/describe-schema.ts'
import { times } from '../helpers/first-rows.ts'
import { untilBlocked } from '../helpers/own-locks.ts'
import { createTestDatabase, databaseUrl } from '../helpers/postgres.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'
import { createTestRole } from '../helpers/test-role.ts'

test('migrating up, all the way down and up again leaves the same schema, and each schema has a comment', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const { db } = database
  const names = Object.keys(await loadMigrations())
  expect(await migrateUp(db)).toEqual(names)
  const first = await describeSchema(db)
  for (const name of names.toReversed()) expect(await migrateDown(db)).toEqual([name])
  expect(await migrateDown(db)).toEqual([])
  expect((await describeSchema(db)).filter((line) => line.startsWith('relation r'))).toHaveLength(2)
  expect(await migrateUp(db)).toEqual(names)
  expect(await describeSchema(db)).toEqual(first)
  const { rows } = await sql`select from pg_namespace
    where nspname like 'livehouse%' and obj_description(oid, 'pg_namespace') is null`.execute(db)
  expect(rows).toEqual([])
})

test('a failing migration rolls back and names the view in its way; a waiting one stops; each runs once', async () => {
  const broken = 'create view public.mine as select from livehouse_ops.jobs; drop table livehouse_ops.jobs'
  await using database = await createTestDatabase({ isMigrated: false })
  const { db } = database
  const migrations = {
    ...(await loadMigrations()),
    '9999-broken': { up: async (inner: typeof db) => void (await sql.raw(broken).execute(inner)) },
  }
  await expect(migrateUp(db, { migrations })).rejects.toThrow('view public.mine depends on what has to be dropped')
  expect(await describeSchema(db)).toEqual([])

  const controller = new AbortController()
  const interruption = new Error('interrupted')
  await db.transaction().execute(async (other) => {
    for (const statement of [...createMigrationTables, takeMigrationLock]) await sql.raw(statement).execute(other)
    const waiting = migrateUp(db, { signal: controller.signal }).catch((error: unknown) => error)
    await untilBlocked(db, sql`true`)
    controller.abort(interruption)
    expect(await waiting).toBe(interruption)
  })

  const results = await Promise.all([1, 2, 3, 4].map(() => migrateUp(db)))
  expect(results.flat().toSorted()).toEqual(Object.keys(await loadMigrations()))
  await requireMigrated(db)
})

test('the server ends a transaction that locks a name or the schema if its process is frozen', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  const limitOf = async (trx: typeof db) => (await sql`show idle_in_transaction_session_timeout`.execute(trx)).rows
  const locked = db.transaction().execute(async (trx) => (await lockName(trx, 'a'), await limitOf(trx)))
  const limits = [await withMigrationLock(db, undefined, limitOf), await locked]
  expect(limits.flat()).toMatchObject(times(2, () => ({ idle_in_transaction_session_timeout: '20s' })))
})

test('no migration begins beside a livehouse, and no run with another schema, even during a migration', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  await using leases = new Leases(db)
  const beginRun = async () => await openRun(db, { command: 'sync', settings: {}, startedAt: new Date(0) }, leases)
  const last = await migrateDown(db)
  await expect(beginRun()).rejects.toMatchObject({ code: 'db.pendingMigrations' })
  await sql`insert into livehouse_ops.leases (name, holder, taken_at, renewed_at, expires_at)
    values ('run 7', 'another', now(), now(), now() + interval '20 s')`.execute(db)
  const message = expect.stringMatching(/lacks .*, but another livehouse is at work on it \(run 7\)/)
  await expect(migrateUp(db)).rejects.toMatchObject({ code: 'db.inUse', message })
  await expect(migrateDown(db)).rejects.toThrow(/is to be reverted, but another livehouse is at work on it \(run 7\)/)
  await sql`update livehouse_ops.leases set expires_at = now()`.execute(db)
  expect(await migrateUp(db)).toEqual(last)

  const updated = createTemporaryFolder('updated')
  writeFileSync(join(updated, 'package.json'), '{"name": "livehouse", "type": "module", "exports": {"./*": "./*"}}')
  for (const name of ['src', 'migrations']) cpSync(name, join(updated, name), { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules'), join(updated, 'node_modules'))
  const { readPending } = createRequire(import.meta.url)(join(updated, 'src', 'store', 'migrate.ts'))
  // An update replaces the files of a process that runs.
  writeFileSync(join(updated, 'migrations', '9999-later.ts'), '')
  expect(await readPending(db)).toEqual([])

  let begun: Promise<unknown> = Promise.resolve()
  const up = async () => {
    begun = errorOf(beginRun())
    await Promise.race([begun, untilBlocked(db, sql`true`)])
  }
  await migrateUp(db, { migrations: { ...(await loadMigrations()), '9999-later': { up } } })
  const newer = { code: 'db.newer', message: expect.stringContaining('9999-later') }
  expect(await begun).toMatchObject(newer)
  for (const refuse of [migrateUp, migrateDown, requireMigrated]) await expect(refuse(db)).rejects.toMatchObject(newer)
})

test('a user without rights learns which one is missing and how a DBA helps', async () => {
  await using role = await createTestRole()
  await using database = await createTestDatabase({ isMigrated: false })
  await using db = await openDatabase(databaseUrl(database.name, role))
  const error = await errorOf(migrateUp(db))
  expect(error).toMatchObject({ code: 'db.refused', details: { sqlState: '42501' } })
  expect(String(error)).toMatch(/permission denied for database.*livehouse migrate sql/s)
  expect(String(error)).not.toContain(role.password)
})
