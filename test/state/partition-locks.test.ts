import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { openDatabase } from '../../src/db/pool.ts'
import { PartitionLocks } from '../../src/state/partition-locks.ts'
import { ownLocks } from '../helpers/own-locks.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

let database: TestDatabase
let elsewhere: Kysely<Database>

beforeAll(async () => {
  database = await createTestDatabase()
})

beforeEach(async () => {
  elsewhere = await openDatabase(database.url)
  return async () => await elsewhere.destroy()
})

afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

/** Ends every session that holds a lock here. */
async function loseSessions() {
  await sql`select pg_terminate_backend(pid, 5000) from ${ownLocks} where locktype = 'advisory'`.execute(database.db)
}

test('a lost session gives way to another, which holds the same: for all who come upon the loss', async () => {
  await using ours = await PartitionLocks.open(database.db)
  expect(await ours.tryTake('visitors', 'channel=1')).toBe(true)
  await loseSessions()
  expect(await Promise.all([ours.keep(), ours.tryTake('visitors', 'channel=2')])).toEqual([undefined, true])
  await using theirs = await PartitionLocks.open(elsewhere)
  const tryBoth = async () => [
    await theirs.tryTake('visitors', 'channel=1'),
    await theirs.tryTake('visitors', 'channel=2'),
  ]
  expect(await tryBoth()).toEqual([false, false])
  await ours.release('visitors', 'channel=1')
  expect(await tryBoth()).toEqual([true, false])
})

test('what another has taken since the loss is told, also when asked again', async () => {
  await using ours = await PartitionLocks.open(database.db)
  await ours.tryTake('gifts', 'channel=1')
  await loseSessions()
  await using theirs = await PartitionLocks.open(elsewhere)
  expect(await theirs.tryTake('gifts', 'channel=1')).toBe(true)
  for (const ask of [() => ours.keep(), () => ours.tryTake('gifts', 'channel=2')]) {
    await expect(ask()).rejects.toMatchObject({
      code: 'db.refused',
      message: expect.stringContaining('gifts channel=1'),
    })
  }
  await ours.release('gifts', 'channel=1')
  await expect(ours.keep()).resolves.toBeUndefined()
})

test('who waits goes on waiting after a loss', async () => {
  await using ours = await PartitionLocks.open(database.db)
  await ours.startWaiting('gifts', 'channel=1')
  await loseSessions()
  await ours.keep()
  await using theirs = await PartitionLocks.open(elsewhere)
  expect(await theirs.isWaitedFor('gifts', 'channel=1')).toBe(true)
  await ours.stopWaiting('gifts', 'channel=1')
  expect(await theirs.isWaitedFor('gifts', 'channel=1')).toBe(false)
})

test('a session that is lost when nothing is left to lock is no matter', async () => {
  const ours = await PartitionLocks.open(database.db)
  await ours.tryTake('gifts', 'channel=1')
  await ours.startWaiting('gifts', 'channel=2')
  await loseSessions()
  await ours.release('gifts', 'channel=1')
  await ours.stopWaiting('gifts', 'channel=2')
  await ours[Symbol.asyncDispose]()
})

test('disposing gives everything back, and nothing stays with the pool', async () => {
  const ours = await PartitionLocks.open(database.db)
  await ours.tryTake('gifts', 'channel=1')
  await ours[Symbol.asyncDispose]()
  await using theirs = await PartitionLocks.open(elsewhere)
  expect(await theirs.tryTake('gifts', 'channel=1')).toBe(true)
})
