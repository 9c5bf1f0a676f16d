import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { quarantine } from '../../src/cli/quarantine.ts'
import { quarantineItems } from '../../src/ledger/quarantine/quarantine.ts'
import { readRunReports } from '../../src/ledger/runs/run-reports.ts'
import { startRun } from '../../src/ledger/runs/runs.ts'
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

beforeEach(async () => void (await database.db.deleteFrom('livehouse_ops.quarantine').execute()))

/** Puts items into quarantine as a new run would have. @returns that run */
async function keep(partition: string, raws: readonly string[], reason: string, stream = 'visitors'): Promise<string> {
  const { db } = database
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt: seenAt })
  const items = raws.map((raw) => ({ raw, reason, path: '', headers: null }))
  await quarantineItems(db, { stream, partition, runId, seenAt, timeZone }, items)
  return runId
}

async function run(...argv: string[]) {
  const { code, printed } = await runVerb(quarantine, argv, { environment: { DATABASE_URL: database.url } })
  expect(code).toBe(0)
  return printed
}

test('list shows each stream and reason with a sample of 80 characters; an empty quarantine says so', async () => {
  expect(await run()).toEqual(['nothing is in quarantine'])
  expect(await run('retry')).toEqual(['nothing to retry: no item is unreadable'])
  for (const channel of ['1', '2', '3', '4', '5']) await keep(`channel=${channel}`, [long], 'user_id is missing')
  await keep('channel=9', ['7'], 'the item is 7,\nnot an object')
  expect(await run('list', '--stream', 'visitors')).toEqual([
    'visitors: 5 items of channel=1, channel=2, channel=3, 2 more',
    '  reason      user_id is missing',
    '  first seen  2026-11-20 14:30, last 2026-11-20 14:30',
    `  sample      ${long.slice(0, 80)}…`,
    '',
    'visitors: 1 item of channel=9',
    '  reason      the item is 7, not an object',
    '  first seen  2026-11-20 14:30, last 2026-11-20 14:30',
    '  sample      7',
  ])
  const [object = ''] = await run('--json')
  const group = { stream: 'visitors', items: 5, reason: 'user_id is missing', last_seen_at: seenAt.toISOString() }
  expect(JSON.parse(object)).toMatchObject({ groups: [group, { items: 1, partitions: ['channel=9'] }] })
  expect(await run('--stream', 'gifts')).toEqual(['nothing is in quarantine'])
})

test('retry says what became of the items, in the zone of the source, and is a run on record', async () => {
  const visitor = '{"user_id": "a", "first_login_time": "2026-11-01 08:00:00"}'
  const runId = await keep('channel=9', [visitor, '7'], 'not understood')
  const lines = await run('retry')
  expect(lines[0]).toMatch(/^stream +items +inserted +updated +unchanged +still unreadable$/)
  expect(lines[1]?.split(/ +/)).toEqual(['visitors', '2', '1', '0', '0', '1'])
  const { db } = database
  const { rows } = await sql`select first_login_at, run_id from livehouse.visitors`.execute(db)
  expect(rows).toEqual([{ first_login_at: new Date('2026-11-01T00:00:00Z'), run_id: runId }])
  const [last] = await readRunReports(db, { count: 1 })
  expect(last).toMatchObject({ command: 'quarantine retry', status: 'ok' })
})

test('a gift that can be read is named as one for the next sync', async () => {
  await keep('channel=9/type=cash', ['{"gift_id": 1, "uptime": "2026-11-20 10:00"}'], 'not understood', 'gifts')
  expect(await run('retry')).toContain('gifts channel=9/type=cash: read again with the next sync')
})
