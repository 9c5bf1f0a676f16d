import { expect, test } from 'vitest'
import { untilRow } from './own-locks.ts'
import { createTestDatabase } from './postgres.ts'
import { startChild } from './start-child.ts'
import { sql } from 'kysely'

const never = new Promise<void>(() => {})

test('who waits for a process that has ended learns at once with what it ended, and what it said', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const child = startChild(['backfill', '--from', 'long ago'], {})
  const early = /^livehouse backfill --from long ago ended with 2 too early:\n[^]*"long ago"/
  await expect(child.whileRunning(never)).rejects.toThrow(early)
  await expect(child.hears('slice.ended')).rejects.toThrow(early)
  await expect(untilRow(database.db, sql`select where false`, [child])).rejects.toThrow(early)
})

test('what a process says before it ends is heard', async () => {
  const child = startChild(['backfill', '--from', 'long ago'], {})
  await child.hears('"long ago"')
  expect(await child.ended).toMatchObject({ code: 2, signal: null })
})
