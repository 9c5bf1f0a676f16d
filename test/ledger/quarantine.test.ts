import type { Kysely } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/store/database.ts'
import { type QuarantinedItem, quarantineItems, resolveAbsent } from '../../src/ledger/quarantine.ts'
import { startRun } from '../../src/ledger/runs.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

/** 22:30 on the service's clock. */
const evening = new Date('2026-11-20T14:30:00Z')
const later = new Date('2026-11-20T15:59:59Z')
const nextDay = new Date('2026-11-20T16:00:00Z')

let database: TestDatabase
let db: Kysely<Database>

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
})

beforeEach(async () => {
  await db.deleteFrom('livehouse_ops.quarantine').execute()
})

afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

const item = (raw: string, reason = 'bad'): QuarantinedItem => ({ raw, reason, path: '', headers: null })

async function originAt(seenAt: Date) {
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt: seenAt })
  return { stream: 'visitors', partition: 'channel=9', runId, seenAt, timeZone: 'Asia/Shanghai' } as const
}

const readItems = async () =>
  await db
    .selectFrom('livehouse_ops.quarantine')
    .select(['raw', 'ordinal', 'reason', 'run_id', 'first_seen_at', 'last_seen_at', 'resolved_at'])
    .orderBy('raw')
    .orderBy('ordinal')
    .execute()

test('an item that comes again the same day writes nothing, the next day of the service it is noted', async () => {
  const first = await originAt(evening)
  await quarantineItems(db, first, [item('1')])
  const kept = await readItems()
  await quarantineItems(db, await originAt(later), [item('1', 'another reason')])
  expect(await readItems()).toEqual(kept)
  const next = await originAt(nextDay)
  await quarantineItems(db, next, [item('1', 'another reason')])
  expect(await readItems()).toMatchObject([
    { reason: 'another reason', run_id: next.runId, first_seen_at: evening, last_seen_at: nextDay },
  ])
})

test('a proven walk resolves what it no longer brings; equal items are counted', async () => {
  await quarantineItems(db, await originAt(evening), [item('1'), item('1'), item('2')])
  await resolveAbsent(db, await originAt(later), [item('1')], { isDaily: false }).execute()
  expect((await readItems()).map(({ raw, ordinal, resolved_at }) => [raw, ordinal, resolved_at])).toEqual([
    ['1', 1, null],
    ['1', 2, later],
    ['2', 1, later],
  ])
})

test('one that comes back is unresolved again and keeps when it was first seen', async () => {
  await quarantineItems(db, await originAt(evening), [item('1')])
  await resolveAbsent(db, await originAt(evening), [], { isDaily: false }).execute()
  await quarantineItems(db, await originAt(later), [item('1')])
  expect(await readItems()).toMatchObject([{ resolved_at: null, first_seen_at: evening, last_seen_at: later }])
})

test('only its own partition and stream are resolved, and what is resolved keeps its time', async () => {
  const origin = await originAt(evening)
  await quarantineItems(db, { ...origin, partition: 'channel=8' }, [item('1')])
  await quarantineItems(db, { ...origin, stream: 'questionnaires' }, [item('2')])
  await quarantineItems(db, origin, [item('3')])
  await resolveAbsent(db, origin, [], { isDaily: false }).execute()
  await resolveAbsent(db, await originAt(later), [], { isDaily: false }).execute()
  expect((await readItems()).map(({ raw, resolved_at }) => [raw, resolved_at])).toEqual([
    ['1', null],
    ['2', null],
    ['3', evening],
  ])
})

test('a daily walk resolves only what was seen on its own day', async () => {
  await quarantineItems(db, await originAt(evening), [item('1')])
  await resolveAbsent(db, await originAt(nextDay), [], { isDaily: true }).execute()
  expect(await readItems()).toMatchObject([{ resolved_at: null }])
  await resolveAbsent(db, await originAt(later), [], { isDaily: true }).execute()
  expect(await readItems()).toMatchObject([{ resolved_at: later }])
})
