import { sql } from 'kysely'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readSettings } from '../../../src/config.ts'
import { readChannelsIfAny } from '../../../src/config/read-channels.ts'
import { readExpectedParts } from '../../../src/scheduler/alerts/expected-parts.ts'
import type { JobDefinition, Job } from '../../../src/core/define-job.ts'
import { parseWallTime } from '../../../src/core/wall-clock.ts'
import { startRun } from '../../../src/ledger/runs.ts'
import { createTestDatabase, type TestDatabase } from '../../helpers/postgres.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

const cron = '15 2 * * *'
const timeZone = 'Asia/Shanghai'
const begin = parseWallTime('2026-11-20 00:00:00') ?? 0
const file = join(createTemporaryFolder('channels'), 'channels.csv')
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => await database[Symbol.asyncDispose]())

function job(definition: JobDefinition): Job {
  const { cron, kind = 'sync' } = definition
  return { name: 'a', kind, cron, timeZone, isEnabled: true, catchUp: 'once', definition }
}

/** `stream`, and its parts with a `+` for new ones. */
async function expected(of: Job, channels = `@${file}`) {
  const environment = channels === '' ? {} : { LIVEHOUSE_CHANNELS: channels }
  const configured = readSettings(environment, readChannelsIfAny)
  const streams = await readExpectedParts(database.db, of, { begin, timeZone }, configured)
  return Object.fromEntries(
    streams.map(({ stream, parts }) => [
      stream,
      parts === 'any' ? parts : parts.map(({ part, isNew }) => part + (isNew ? '+' : '')),
    ]),
  )
}

test('a job expects of each stream the parts of its channels that are there and not over', async () => {
  const { db } = database
  const rows = ['1,a,,', '2,b,,', '3,a,,2026-11-19', '4,a,,2026-11-20', '5,a,2026-11-20,', '6,a,,', '7,a,,']
  writeFileSync(file, ['channel_id,group,from,until', ...rows].join('\n'))
  const read = job({ cron, streams: ['visitors', 'gifts', 'managers', 'signups'] })

  // No run has been: all are expected, that it is noticed when none ever is.
  expect((await expected(read))['visitors']).toEqual([1, 2, 4, 6, 7].map((id) => `channel=${id}`))
  const [old, today] = await Promise.all(
    ['2026-11-19T23:59:59+08:00', '2026-11-20T02:15:00+08:00'].map((at) =>
      startRun(db, { command: 'sync', settings: {}, startedAt: new Date(at) }),
    ),
  )
  // 6 is gone; 7 has not been met by any run.
  for (const [id, state, run] of [
    ...['1', '3', '4', '5'].map((id) => [id, 'active', old] as const),
    ['2', 'active', today],
    ['6', 'gone', old],
  ] as const) {
    await sql`insert into livehouse.channels (channel_id, state, run_id) values (${id}, ${state}, ${run})`.execute(db)
  }
  await sql`insert into livehouse.questionnaires (channel_id, question_id, run_id)
    values ('1', 'x', ${old}), ('1', 'y', ${today}), ('1', 'deleted', ${old}), ('6', 'z', ${old})`.execute(db)
  await sql`insert into livehouse_ops.unlisted_questionnaires values ('channel=1/question=deleted', ${old}, now())`.execute(
    db,
  )
  expect(await expected(read)).toEqual({
    questionnaires: ['channel=1', 'channel=2+', 'channel=4'],
    visitors: ['channel=1', 'channel=2+', 'channel=4'],
    gifts: [1, '2', 4].flatMap((id) =>
      ['cash', 'prop'].map((type) => `channel=${id}/type=${type}${id === '2' ? '+' : ''}`),
    ),
    managers: ['account'],
    signups: ['channel=1/question=x', 'channel=1/question=y+'],
  })
  expect((await expected(job({ cron, streams: ['visitors'], channels: { group: 'b' } })))['visitors']).toEqual([
    'channel=2+',
  ])
  expect((await expected(job({ cron, streams: ['visitors'], channels: ['4'] })))['visitors']).toEqual(['channel=4'])
})
