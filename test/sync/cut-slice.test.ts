import { expect, test } from 'vitest'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { gifts } from '../../src/streams/gifts.ts'
import { cutShortened } from '../../src/sync/cut-slice.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

test('of a minute without rows nothing more is asked for', async () => {
  await using database = await createTestDatabase()
  const from = parseWallTime('2026-11-20 10:00:00') ?? 0
  const window = { from, to: from + 60 }
  const slice = { stream: gifts, partition: { channel: '9', type: 'cash' }, window, covers: window, isShortened: true }
  const deps = { db: database.db, timeZone: 'Asia/Shanghai', longestServed: new Map() }
  // A reading that cannot ask for anything.
  const reading = JSON.parse('{}')
  expect(await cutShortened(slice, { rows: [], received: 0 }, reading, deps)).toBeUndefined()
})
