import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { lockName, makeName, shareName, tryLockName } from '../../src/store/lock-name.ts'
import { untilBlocked } from '../helpers/own-locks.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

test('a name is one transaction’s alone, or shared by several', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  const began: string[] = []
  let sharing: readonly Promise<void>[] = []
  await db.transaction().execute(async (alone) => {
    await lockName(alone, 'a')
    sharing = ['1', '2'].map(async (name) => {
      await db.transaction().execute(async (trx) => {
        await shareName(trx, 'a')
        began.push(name)
      })
    })
    await untilBlocked(db, sql`locktype in ('transactionid', 'tuple')`)
    expect(began).toEqual([])
    await makeName(db, 'b')
    expect(await db.transaction().execute(async (trx) => await tryLockName(trx, 'b'))).toBe(true)
    expect(await db.transaction().execute(async (trx) => await tryLockName(trx, 'a'))).toBe(false)
  })
  await Promise.all(sharing)
  await db.transaction().execute(async (one) => {
    await shareName(one, 'a')
    await db.transaction().execute(async (other) => await shareName(other, 'a'))
  })
})
