import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/store/pool.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { withParameters } from '../helpers/with-parameters.ts'
import { startQueueingPooler } from '../helpers/queueing-pooler.ts'
import { startStallingProxy } from '../helpers/stalling-proxy.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

test('a server that keeps its connections and answers nothing is out of reach, until it answers again', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  await using proxy = await startStallingProxy(database.url)
  await using db = await openDatabase(proxy.url, { silentAfterMs: 200 })
  const away = { code: 'db.unreachable', message: expect.stringContaining('it has not answered for 2 s') }
  const halfDone = db.transaction().execute(async (transaction) => {
    await sql`create table half_done ()`.execute(transaction)
    proxy.stall()
    await sql`select 1`.execute(transaction)
  })
  await expect(halfDone).rejects.toMatchObject(away)
  proxy.goOn()
  expect((await sql`select to_regclass('half_done') as made`.execute(db)).rows).toEqual([{ made: null }])
})

test('a statement that takes its time is left alone', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  await using db = await openDatabase(database.url, { silentAfterMs: 300 })
  expect((await sql`select 1 as one from pg_sleep(1)`.execute(db)).rows).toEqual([{ one: 1 }])
})

test('a statement is left alone behind a pooler that lets the question wait for its connection', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  await using pooler = await startQueueingPooler(database.url)
  await using db = await openDatabase(pooler.url, { silentAfterMs: 100, maxConnections: 1 })
  expect((await sql`select 1 as one from pg_sleep(2)`.execute(db)).rows).toEqual([{ one: 1 }])
  expect(pooler.waited()).toBeGreaterThan(3)
})

test('a server that answers nothing behind a pooler that greets in its place is out of reach in the end', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  await using proxy = await startStallingProxy(database.url)
  await using pooler = await startQueueingPooler(proxy.url)
  await using db = await openDatabase(pooler.url, { silentAfterMs: 100, maxConnections: 1 })
  await sql`select 1`.execute(db)
  proxy.stall()
  const away = { code: 'db.unreachable', message: expect.stringContaining('it has not answered for') }
  await expect(sql`select 1`.execute(db)).rejects.toMatchObject(away)
})

test('questions that cannot be asked say nothing of a statement that takes its time', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const certificate = join(createTemporaryFolder('silence'), 'ca.pem')
  writeFileSync(certificate, '')
  const url = withParameters(database.url, { sslmode: 'disable', sslrootcert: certificate })
  await using db = await openDatabase(url, { silentAfterMs: 100 })
  await sql`select 1`.execute(db)
  rmSync(certificate)
  expect((await sql`select 1 as one from pg_sleep(1)`.execute(db)).rows).toEqual([{ one: 1 }])
})
