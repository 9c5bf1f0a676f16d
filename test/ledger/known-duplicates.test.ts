import type { Kysely } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/store/database.ts'
import { duplicateItem, readDuplicates } from '../../src/ledger/known-duplicates.ts'
import { quarantineItems } from '../../src/ledger/quarantine.ts'
import { startRun } from '../../src/ledger/runs.ts'
import { visitors } from '../../src/streams/visitors.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

let database: TestDatabase
let db: Kysely<Database>

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
})

afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`

test.each<[string, string, string | null]>([
  ['text', String.raw`{"id": "a\\u0000b \"c\""}`, String.raw`a\u0000b "c"`],
  ['an integer beyond 2^53', '{"id": 9007199254740993}', '9007199254740993'],
  ['a small integer', '{"id": 7}', '7'],
  ['nothing', '{"id": null}', null],
  ['missing', '{"nick": "x"}', null],
  ['text that Postgres cannot hold', String.raw`{"id": "a\u0000b", "nick": "\ud800"}`, 'a\u0000b'],
  ['in an item deeper than Postgres reads', `{"id": "a", "more": ${deep}}`, 'a'],
])('the key field of a known duplicate may be %s', async (name, raw, value) => {
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt: new Date() })
  const origin = { stream: visitors.name, partition: `channel=${name}`, runId, seenAt: new Date(), timeZone: 'UTC' }
  await quarantineItems(db, origin, [duplicateItem(raw, 'id', 2)])
  expect(await readDuplicates(db, visitors, { channel: name })).toEqual([value])
})
