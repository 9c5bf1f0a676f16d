import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/pool.ts'
import { ownLocks, untilBlocked } from './own-locks.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'

let here: TestDatabase
let there: TestDatabase
beforeAll(async () => {
  here = await createTestDatabase({ isMigrated: false })
  there = await createTestDatabase({ isMigrated: false })
})
afterAll(async () => {
  await here[Symbol.asyncDispose]()
  await there[Symbol.asyncDispose]()
})

test('who waits for a lock of the same number in another database is not taken for one who waits here', async () => {
  await using other = await openDatabase(there.url)
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  const holding = there.db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(4711)`.execute(trx)
    close()
    await opened
  })
  await closed
  const waiting = sql`select pg_advisory_lock(4711)`.execute(other)
  await untilBlocked(there.db, sql`objid = 4711`)
  const seen = await sql`select 1 from ${ownLocks} where objid = 4711`.execute(here.db)
  open()
  await Promise.all([holding, waiting])
  expect(seen.rows).toEqual([])
})
