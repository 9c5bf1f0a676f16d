import { expect, test } from 'vitest'
import { recordListing } from '../../src/ledger/questionnaires.ts'
import { startRun } from '../../src/ledger/runs/runs.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const NOW = new Date('2026-11-20T06:30:00Z')

test('a listing may exceed the parameters of a statement, and is recorded as a whole or not at all', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt: NOW })
  const listing = { runId, foundAt: NOW, since: NOW }
  const all = Array.from({ length: 66_000 }, (_, number) => `channel=1/question=${number}`)
  const unlisted = db.selectFrom('livehouse_ops.unlisted_questionnaires').select('partition')
  await recordListing(db, { listed: [], unlisted: all }, listing)
  expect(await unlisted.execute()).toHaveLength(66_000)
  const unwritable = { listed: all, unlisted: ['channel=2/question=1'] }
  await expect(recordListing(db, unwritable, { ...listing, runId: 'none' })).rejects.toThrow('bigint')
  expect(await unlisted.execute()).toHaveLength(66_000)
  await recordListing(db, { listed: all.slice(1), unlisted: all.slice(0, 1) }, listing)
  expect(await unlisted.execute()).toHaveLength(1)
})
