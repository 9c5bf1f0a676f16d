import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { keepsSession } from '../../src/db/keeps-session.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { openThroughTransactionPooler } from '../helpers/transaction-pooler.ts'

test('a connection of the server itself keeps its session', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  expect(await keepsSession(database.db, systemClock)).toBe(true)
})

test('a pooler in transaction mode is found, also one with a single connection that makes us wait for ourselves', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  await using several = openThroughTransactionPooler(database.url)
  expect(await keepsSession(several, systemClock)).toBe(false)
  await using single = openThroughTransactionPooler(database.url, 1)
  expect(await keepsSession(single, createFakeClock({ isAutomatic: true }))).toBe(false)
})
