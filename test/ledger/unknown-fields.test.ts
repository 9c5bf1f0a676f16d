import { expect, test } from 'vitest'
import { startRun } from '../../src/ledger/runs/runs.ts'
import { recordUnknownFields } from '../../src/ledger/unknown-fields.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const database = ofFile(createTestDatabase)

test('of 20,000 unknown fields 1,000 are reported, and none of them twice', async () => {
  const at = new Date('2026-11-20T16:30:00Z')
  const runId = await startRun(database.db, { command: 'sync', settings: {}, startedAt: at })
  const names = Array.from({ length: 20_000 }, (_, index) => `viewer ${index}`)
  expect(await recordUnknownFields(database.db, 'gifts', names, runId, at)).toHaveLength(1000)
  expect(await recordUnknownFields(database.db, 'gifts', names, runId, at)).toEqual([])
})
