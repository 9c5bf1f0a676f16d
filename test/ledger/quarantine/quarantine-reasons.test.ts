import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { readQuarantine } from '../../../src/ledger/quarantine/quarantine-reasons.ts'
import { startRun } from '../../../src/ledger/runs/runs.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'

test('reasons are told by kind and number, without a value of anybody', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  const at = new Date('2026-11-20T06:00:00Z')
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt: at })
  const add = async (hash: string, reason: string, resolvedAt: Date | null = null) =>
    await sql`insert into livehouse_ops.quarantine (stream, partition, item_hash, ordinal, raw, reason, path, run_id,
        first_seen_at, last_seen_at, resolved_at)
      values ('visitors', 'channel=9', ${hash}, 1, '{}', ${reason}, '', ${runId}, ${at}, ${at}, ${resolvedAt})`.execute(
      db,
    )
  await add('a', 'user_id is "张三\\"", and a row needs it')
  await add('b', 'user_id is "李四", and a row needs it')
  await add('c', 'the item is {"phone":"1380000…, not an object')
  await add('d', 'record_id is 13812345678, and more')
  await add('e', 'gone', at)
  expect(await readQuarantine(db)).toMatchObject([
    { stream: 'visitors', reason: 'user_id is …, and a row needs it', items: 2, lastSeenAt: at },
    { stream: 'visitors', reason: 'record_id is …, and more', items: 1, lastSeenAt: at },
    { stream: 'visitors', reason: 'the item is {…:…', items: 1, lastSeenAt: at },
  ])
})
