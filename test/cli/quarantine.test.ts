import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { quarantine } from '../../src/cli/quarantine.ts'
import { status } from '../../src/cli/status.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { conflictItem, quarantineItems } from '../../src/ledger/quarantine/quarantine.ts'
import { readRunReports } from '../../src/ledger/runs/run-reports.ts'
import { startRun } from '../../src/ledger/runs/runs.ts'
import { readGaps } from '../../src/ledger/slices/coverage.ts'
import { claimSource } from '../../src/ledger/source.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { runVerb } from '../helpers/run-verb.ts'

const timeZone = 'Asia/Shanghai'
const seenAt = new Date('2026-11-20T06:30:00Z')
const long = JSON.stringify({ nick: '观'.repeat(200) })

const database = ofFile(createTestDatabase)

beforeAll(async () => {
  await claimSource(database.db, { baseUrl: 'https://api.example.com', appId: null, timeZone })
})

beforeEach(async () => {
  await sql`truncate livehouse_ops.quarantine, livehouse_ops.slices, livehouse.visitors,
    livehouse.watch_records`.execute(database.db)
})

const newRun = async () => await startRun(database.db, { command: 'sync', settings: {}, startedAt: seenAt })

/** Puts items into quarantine as a new run would. @returns that run */
async function addItems(
  partition: string,
  raws: readonly string[],
  { reason = 'not understood', stream = 'visitors', headers = null as string | null } = {},
): Promise<string> {
  const runId = await newRun()
  const items = raws.map((raw) => ({ raw, reason, path: '', headers }))
  await quarantineItems(database.db, { stream, partition, runId, seenAt, timeZone }, items)
  return runId
}

async function run(...argv: string[]) {
  const [verb, args] = argv[0] === 'status' ? [status, []] : [quarantine, argv]
  const { code, printed } = await runVerb(verb, args, { environment: { DATABASE_URL: database.url } })
  expect(code).toBe(0)
  return printed
}

test('list groups items by reason without values, with a sample, and says if there are none', async () => {
  expect(await run()).toEqual(['nothing is in quarantine'])
  expect(await run('retry')).toEqual(['nothing to retry: no item is unreadable'])
  for (const channel of ['1', '2', '3', '4', '5'])
    await addItems(`channel=${channel}`, [long], { reason: `user_id is "${channel}", and a row needs it` })
  await addItems('channel=9', ['7'], { reason: 'it is 13812345678,\nnot "张三\\"" nor "of nobody' })
  expect(await run('list', '--stream', 'visitors')).toEqual([
    'visitors: 5 items of channel=1, channel=2, channel=3, 2 more',
    '  reason      user_id is …, and a row needs it',
    '  first seen  2026-11-20 14:30, last 2026-11-20 14:30',
    `  sample      ${long.slice(0, 80)}…`,
    '',
    'visitors: 1 item of channel=9',
    '  reason      it is …, not … nor …',
    '  first seen  2026-11-20 14:30, last 2026-11-20 14:30',
    '  sample      7',
  ])
  expect(await run('status')).toContainEqual(expect.stringMatching(/^visitors +6 +user_id is …, and/))
  const [object = ''] = await run('--json')
  const group = { stream: 'visitors', items: 5, reason: expect.any(String), last_seen_at: seenAt.toISOString() }
  expect(JSON.parse(object)).toMatchObject({ groups: [group, { items: 1, partitions: ['channel=9'] }] })
  expect(await run('--stream', 'gifts')).toEqual(['nothing is in quarantine'])
})

/** What a retry prints, and its counts for a stream: items, inserted, updated, unchanged, still unreadable. */
async function retry(stream: string) {
  const lines = await run('retry')
  expect(lines[0]).toMatch(/^stream +items +inserted +updated +unchanged +still unreadable$/)
  const line = lines.find((each) => each.startsWith(`${stream} `))
  return { counts: line?.split(/ +/).slice(1).map(Number), lines }
}

const insertVisitor = async (runId: string, nickname: string, lastOnlineAt: string | null = null) =>
  await sql`insert into livehouse.visitors (channel_id, user_id, nickname, last_online_at, run_id) values
    ('9', 'a', ${nickname}, ${lastOnlineAt}::timestamp at time zone ${timeZone}, ${runId}::bigint)`.execute(database.db)

const readNicknames = async () => {
  const rows = await sql<{ nickname: string }>`select nickname from livehouse.visitors`.execute(database.db)
  return rows.rows.map(({ nickname }) => nickname)
}

const readUnresolved = async () => {
  const unresolved = database.db.selectFrom('livehouse_ops.quarantine').select('raw').where('resolved_at', 'is', null)
  return (await unresolved.execute()).map(({ raw }) => raw)
}

test("retry prints what became of the items, reads times in the source's zone, and is recorded as a run", async () => {
  const item = (time: string) => JSON.stringify({ user_id: 'a', first_login_time: time, last_online_time: time })
  // The latest item of a key wins.
  const runId = await addItems('channel=9', [item('2026-11-01 08:00:00'), item('2026-10-31 08:00:00'), '7'])
  expect(await retry('visitors')).toMatchObject({ counts: [3, 1, 0, 1, 1] })
  const { db } = database
  const { rows } = await sql`select first_login_at, run_id from livehouse.visitors`.execute(db)
  expect(rows).toEqual([{ first_login_at: new Date('2026-11-01T00:00:00Z'), run_id: runId }])
  const [last] = await readRunReports(db, { count: 1 })
  expect(last).toMatchObject({ command: 'quarantine retry', status: 'ok' })
})

test('a row that was written after the item was received, or by the same run, is not overwritten', async () => {
  const runId = await addItems('channel=9', ['{"user_id": "a", "nick": "stale"}'])
  await insertVisitor(await newRun(), 'later')
  expect(await retry('visitors')).toMatchObject({ counts: [1, 0, 0, 1, 0] })
  expect(await readNicknames()).toEqual(['later'])
  expect(await run()).toEqual(['nothing is in quarantine'])

  await sql`update livehouse.visitors set run_id = ${runId}::bigint`.execute(database.db)
  await sql`update livehouse_ops.quarantine set resolved_at = null`.execute(database.db)
  await retry('visitors')
  expect(await readNicknames()).toEqual(['later'])
})

test.each([
  ['older', '2026-11-01 11:59:59'],
  ['as old', '2026-11-01 12:00:00'],
])('a duplicate that is %s but was received later does not overwrite the winner', async (_, at) => {
  await insertVisitor(await newRun(), 'winner', '2026-11-01 12:00:00')
  await addItems('channel=9', [JSON.stringify({ user_id: 'a', nick: 'loser', last_online_time: at })])
  expect(await retry('visitors')).toMatchObject({ counts: [1, 0, 0, 1, 0] })
  expect(await readNicknames()).toEqual(['winner'])
})

test('signups that have become readable stay in quarantine, and their minutes become gaps', async () => {
  const row = (at: string) => JSON.stringify(['u1', 'Nick', '130', 'yes', at])
  const headers = JSON.stringify(['user id', 'nickname', 'phone', 'Coming?', 'time'])
  const rows = ['2017-03-01 08:00:00', '2026-11-01 12:00:30', '2026-11-01 12:05:00', '2026-11-01 12:09:00'].map(row)
  const runId = await addItems('channel=9/question=q1', rows, { stream: 'signups', headers })
  await sql`insert into livehouse_ops.slices (run_id, stream, partition, covers, status, proof, distinct_rows, quarantined_rows,
    calls, retries, started_at, finished_at)
    select ${runId}::bigint, 'signups', 'channel=9/question=' || question, '[2017-01-01,2026-11-02)', 'landed',
      'verified', 0, 1, 1, 0, now(), now() from unnest(array['q1', 'q2']) question`.execute(database.db)
  await addItems('channel=9/question=q2', ['7'], { stream: 'signups', headers })
  const { counts, lines } = await retry('signups')
  expect(counts).toEqual([5, 0, 0, 0, 1])
  const again = lines.filter((line) => line.endsWith(': read again with the next sync'))
  expect(again).toEqual(['signups channel=9/question=q1: read again with the next sync'])
  expect(await readUnresolved()).toHaveLength(5)
  const wall = (text: string) => parseWallTime(text) ?? 0
  const window = { from: wall('2017-01-01'), to: wall('2026-11-02') }
  const wanted = ['q1', 'q2'].map((id) => ({ partition: `channel=9/question=${id}`, window }))
  const gaps = await readGaps(database.db, 'signups', wanted)
  const minutes = (from: string, to = from) => ({ from: wall(from), to: wall(to) + 60 })
  const [first, second] = [minutes('2017-03-01 08:00'), minutes('2026-11-01 12:00', '2026-11-01 12:09')]
  expect([...gaps.values()]).toEqual([[first, second], []])
})

test('a version 1 record that conflicts with version 2 stays in quarantine, also if a retry finds out', async () => {
  const record = (fields: object) => JSON.stringify({ record_id: 5, user_id: 'u1', ...fields })
  await addItems('channel=9', [record({})], { stream: 'watch_records' })
  await retry('watch_records')
  const place = { stream: 'watch_records_v1', partition: 'channel=9', runId: await newRun(), seenAt, timeZone } as const
  await quarantineItems(database.db, place, [conflictItem(record({ user_id: 'u2' }), 'record_id', ['user_id'])])
  await addItems('channel=9', [record({ user_id: 'u3' }), record({ nick: 'A' })], { stream: place.stream })
  expect(await retry('watch_records_v1')).toMatchObject({ counts: [3, 0, 0, 3, 0] })
  expect(new Set((await readUnresolved()).map((raw) => JSON.parse(raw).user_id))).toEqual(new Set(['u2', 'u3']))
})
