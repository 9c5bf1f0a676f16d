import { once } from 'node:events'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { readLeases } from '../../../src/ledger/leases/lease-rows.ts'
import { Leases } from '../../../src/ledger/leases/leases.ts'
import { ofFile } from '../../helpers/of-file.ts'
import { untilRow } from '../../helpers/own-locks.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'

const database = ofFile(createTestDatabase)
beforeEach(async () => void (await database.db.deleteFrom('livehouse_ops.leases').execute()))

const frequentRenewal = { renewMs: 5, expiresMs: 20_000 }
const expire = async () => await sql`update livehouse_ops.leases set expires_at = now()`.execute(database.db)
const commit = async (leases: Leases) =>
  await database.db.transaction().execute(async (trx) => await leases.require(trx, 'a'))

test('a lease has one holder at a time until its release', async () => {
  await using ours = new Leases(database.db)
  await using theirs = new Leases(database.db)
  expect(await ours.tryTake('a')).toBeDefined()
  expect(await theirs.tryTake('a')).toBeUndefined()
  await expect(commit(ours)).resolves.toBeUndefined()
  await expect(commit(theirs)).rejects.toMatchObject({ code: 'lease.lost' })
  const onAnotherServer = database.db.transaction().execute(async (trx) => {
    await sql`create function public.pg_postmaster_start_time() returns timestamptz return now()`.execute(trx)
    await sql`set local search_path = public, pg_catalog`.execute(trx)
    await ours.require(trx, 'a')
  })
  await expect(onAnotherServer).rejects.toMatchObject({ code: 'lease.lost' })
  expect(await readLeases(database.db)).toMatchObject([{ holder: expect.stringContaining(String(process.pid)) }])
  await ours.release('a')
  expect(await theirs.tryTake('a')).toBeDefined()
  await theirs[Symbol.asyncDispose]()
  expect(await readLeases(database.db)).toEqual([])
})

test('the former holder of an expired lease cannot commit, even after the next one has released it', async () => {
  await using ours = new Leases(database.db)
  await ours.tryTake('a')
  await expire()
  await expect(commit(ours), 'a migration may have run meanwhile').rejects.toMatchObject({ code: 'lease.lost' })
  await using theirs = new Leases(database.db)
  expect(await theirs.tryTake('a')).toBeDefined()
  await theirs.release('a')
  await using third = new Leases(database.db)
  await third.tryTake('a')
  await expect(commit(ours)).rejects.toMatchObject({ code: 'lease.lost', message: expect.stringContaining('process') })
  await ours.release('a')
  await expect(commit(third)).resolves.toBeUndefined()
  await sql`update livehouse_ops.leases set expires_at = '2999-01-01', wanted_until = '2999-01-01'`.execute(database.db)
  expect(await ours.tryTake('a', { yieldsToOthers: true }), 'it is from before the clock was set back').toBeDefined()
})

test('a lease is renewed while it is held, and its holder learns when another process has taken it', async () => {
  await using ours = new Leases(database.db, frequentRenewal)
  const lost = await ours.tryTake('a')
  await expire()
  await untilRow(database.db, sql`select from livehouse_ops.leases where expires_at > now()`)
  await sql`update livehouse_ops.leases set epoch = epoch + 1`.execute(database.db)
  if (lost?.aborted === false) await once(lost, 'abort')
  expect(lost?.reason).toMatchObject({ code: 'lease.lost' })
  expect(ours.holds('a')).toBe(false)
})

test('a lease taken in a transaction is not lost to a renewal before the commit, and is renewed after it', async () => {
  await using ours = new Leases(database.db, frequentRenewal)
  await ours.tryTake('b')
  const untilRenewed = async (name: string) =>
    await untilRow(database.db, sql`select from livehouse_ops.leases where name = ${name} and expires_at > now()`)
  const lost = await database.db.transaction().execute(async (db) => {
    const lease = await ours.tryTake('a', { db })
    await expire()
    await untilRenewed('b')
    return lease
  })
  ours.startRenewing('a')
  await expire()
  await untilRenewed('a')
  expect(lost?.aborted).toBe(false)
})
