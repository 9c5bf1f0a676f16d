import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { parseExact } from '../../src/service/read-answer.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { retryQuarantine } from '../../src/sync/retry-quarantine.ts'
import { readGaps } from '../../src/ledger/slices/coverage.ts'
import { conflictItem, quarantineItems } from '../../src/ledger/quarantine/quarantine.ts'
import { startRun } from '../../src/ledger/runs/runs.ts'
import { allStreams } from '../../src/streams/registry.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { ofFile } from '../helpers/of-file.ts'

const timeZone = 'Asia/Shanghai'
/** The day after in the service's zone. */
const seenAt = new Date('2026-11-20T16:30:00Z')

const database = ofFile(createTestDatabase)

beforeEach(async () => {
  await sql`truncate livehouse_ops.quarantine, livehouse_ops.slices, livehouse.visitors, livehouse.watch_records,
    livehouse.manager_usage`.execute(database.db)
})

const newRun = async () => await startRun(database.db, { command: 'sync', settings: {}, startedAt: seenAt })

/** Puts items into quarantine as a new run would have. @returns that run */
async function keep(
  stream: string,
  partition: string,
  raws: readonly string[],
  headers: string | null = null,
): Promise<string> {
  const runId = await newRun()
  const items = raws.map((raw) => ({ raw, headers, reason: 'it was not understood', path: '' }))
  await quarantineItems(database.db, { stream, partition, runId, seenAt, timeZone }, items)
  return runId
}

const visitor = (userId: string, fields: Readonly<Record<string, unknown>> = {}) =>
  JSON.stringify({ user_id: userId, ...fields })

const retry = async (names?: readonly string[]) =>
  await retryQuarantine(
    {
      db: database.db,
      streams: allStreams,
      parse: parseExact,
      timeZone,
      now: () => seenAt.getTime() + 60_000,
      signal: new AbortController().signal,
    },
    names,
  )

const insertVisitor = async (runId: string, nickname: string, lastOnlineAt: string | null = null) =>
  await sql`insert into livehouse.visitors (channel_id, user_id, nickname, last_online_at, run_id)
    values ('9', 'a', ${nickname}, ${lastOnlineAt}::timestamp at time zone ${timeZone}, ${runId}::bigint)`.execute(
    database.db,
  )

const readVisitors = async () =>
  (
    await sql<{ user_id: string; nickname: string; run_id: string }>`
      select user_id, nickname, run_id from livehouse.visitors order by user_id`.execute(database.db)
  ).rows

const countUnresolved = async () =>
  (await database.db.selectFrom('livehouse_ops.quarantine').select('raw').where('resolved_at', 'is', null).execute())
    .length

test('a row that was written after the item was received, or by the same run, is not overwritten', async () => {
  const runId = await keep('visitors', 'channel=9', [visitor('a', { nick: 'stale' })])
  await insertVisitor(await newRun(), 'later')
  expect((await retry()).streams.get('visitors')).toMatchObject({ updated: 0, unchanged: 1 })
  expect(await readVisitors()).toMatchObject([{ nickname: 'later' }])
  expect(await countUnresolved()).toBe(0)

  await sql`update livehouse.visitors set run_id = ${runId}::bigint`.execute(database.db)
  await sql`update livehouse_ops.quarantine set resolved_at = null`.execute(database.db)
  await retry()
  expect(await readVisitors()).toMatchObject([{ nickname: 'later' }])
})

test.each([
  ['older', '2026-11-01 11:59:59'],
  ['as old', '2026-11-01 12:00:00'],
])(
  'the loser of a duplicate does not overwrite the winner: it is %s, though a later run received it',
  async (_, at) => {
    await insertVisitor(await newRun(), 'winner', '2026-11-01 12:00:00')
    await keep('visitors', 'channel=9', [visitor('a', { nick: 'loser', last_online_time: at })])
    expect((await retry()).streams.get('visitors')).toMatchObject({ updated: 0, unchanged: 1 })
    expect(await readVisitors()).toMatchObject([{ nickname: 'winner' }])
  },
)

test('a signup that can be read is not loaded: it is resolved, and its minute is to be read again', async () => {
  const row = JSON.stringify(['u1', 'Nick', '130', 'yes', '2026-11-01 12:00:30'])
  const headers = JSON.stringify(['user id', 'nickname', 'phone', 'Coming?', 'time'])
  const runId = await keep('signups', 'channel=9/question=q1', [row], headers)
  await sql`insert into livehouse_ops.slices (run_id, stream, partition, covers, status, proof, distinct_rows, quarantined_rows,
    calls, retries, started_at, finished_at) select ${runId}::bigint, stream, partition, '[2026-11-01,2026-11-02)', 'landed',
    'verified', 0, 1, 1, 0, now(), now() from livehouse_ops.quarantine`.execute(database.db)
  const { streams: counts, readAgain } = await retry()
  expect(counts.get('signups')).toMatchObject({ extracted: 1, inserted: 0, quarantined: 0 })
  expect(readAgain).toEqual([{ stream: 'signups', partition: 'channel=9/question=q1' }])
  expect(await countUnresolved()).toBe(0)
  const wall = (text: string) => parseWallTime(text) ?? 0
  const window = { from: wall('2026-11-01'), to: wall('2026-11-02') }
  const gaps = await readGaps(database.db, 'signups', [{ partition: 'channel=9/question=q1', window }])
  const minute = { from: wall('2026-11-01 12:00'), to: wall('2026-11-01 12:01') }
  expect(gaps.get('channel=9/question=q1')).toEqual([minute])
})

test('a record whose id version 2 has for another stays, and one that turns out to be such becomes one', async () => {
  const record = (fields: object) => JSON.stringify({ record_id: 5, user_id: 'u1', ...fields })
  await keep('watch_records', 'channel=9', [record({})])
  await retry()
  const unread = {
    stream: 'watch_records_v1' as const,
    partition: 'channel=9',
    runId: await newRun(),
    seenAt,
    timeZone,
  }
  await quarantineItems(database.db, unread, [conflictItem(record({ user_id: 'u2' }), 'record_id', ['user_id'])])
  await keep('watch_records_v1', 'channel=9', [record({ user_id: 'u3' }), record({ nick: 'A' })])
  expect((await retry()).streams.get('watch_records_v1')).toMatchObject({ extracted: 3, updated: 0, unchanged: 3 })
  const { rows } = await sql<{ raw: string }>`
    select raw from livehouse_ops.quarantine where resolved_at is null`.execute(database.db)
  expect(new Set(rows.map(({ raw }) => JSON.parse(raw).user_id))).toEqual(new Set(['u2', 'u3']))
})
