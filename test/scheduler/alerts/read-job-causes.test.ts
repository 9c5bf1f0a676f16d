import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { JobDefinition, Job } from '../../../src/core/define-job.ts'
import { readJobCauses } from '../../../src/scheduler/alerts/read-job-causes.ts'
import { createTestDatabase, type TestDatabase } from '../../helpers/postgres.ts'

/** 08:00 of the service's 20th of November. */
const NOW_MS = Date.UTC(2026, 10, 20, 0)
const cron = '15 2 * * *'
const HOUR_MS = 3_600_000
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await sql`truncate livehouse_ops.runs, livehouse_ops.job_runs, livehouse_ops.jobs cascade`.execute(database.db)
  await sql`insert into livehouse.channels (channel_id, state, run_id) select id::text, 'active', 1 from generate_series(1, 9) as id
    on conflict do nothing`.execute(database.db)
  await serveSince('nightly', '2026-11-01T00:00:00+08')
})

function job(definition: JobDefinition, name = 'nightly'): Job {
  const kind = definition.kind ?? 'sync'
  return {
    name,
    kind,
    cron,
    timeZone: 'Asia/Shanghai',
    isEnabled: true,
    catchUp: 'once',
    definition,
  }
}

const channelOf = (channelId: string) => {
  return { channelId, label: null, group: null, from: null, until: null, isTest: false }
}

function causes(jobs: readonly Job[], ids: readonly string[] = ['1'], nowMs = NOW_MS) {
  return readJobCauses(database.db, nowMs, { jobs, timeZone: 'Asia/Shanghai', readChannels: () => ids.map(channelOf) })
}

async function serveSince(name: string, since: string): Promise<void> {
  await sql`insert into livehouse_ops.jobs (job, cron, time_zone, is_enabled, since, seen_at)
    values (${name}, '', '', true, ${since}, now()) on conflict (job) do update set since = excluded.since`.execute(
    database.db,
  )
}

async function land(stream: string, at: string, status = 'landed', part = 'channel=1'): Promise<void> {
  await sql`with run as (insert into livehouse_ops.runs (command, status, settings, started_at) values ('sync', 'ok', '{}', now())
      returning run_id)
    insert into livehouse_ops.slices (run_id, stream, partition, status, proof, distinct_rows, quarantined_rows, calls, retries,
      started_at, finished_at)
    select run_id, ${stream}, ${part}, ${status}, 'verified', 1, 0, 1, 0, ${at}, ${at} from run`.execute(database.db)
}

async function runEnded(outcome: string, minute: number): Promise<void> {
  await sql`insert into livehouse_ops.job_runs (job, is_repeat, status, outcome, attempts, worker, started_at, finished_at)
    values ('nightly', false, 'ended', ${outcome}, 1, 'host:1', ${new Date(NOW_MS + minute * 60_000)}, now())`.execute(
    database.db,
  )
}

const nightly = job({ cron, provenBy: '07:00', streams: ['gifts'] })
const stale = { kind: 'stale', job: 'nightly', stream: 'gifts', provenBy: '07:00' }

test('a stream is late when nothing of it landed on the day by the hour', async () => {
  expect(await causes([nightly])).toEqual([{ ...stale, provenAt: null }])
  await land('gifts', '2026-11-19T23:59:00+08')
  expect(await causes([nightly])).toEqual([{ ...stale, provenAt: '2026-11-19T15:59:00.000Z' }])
  await land('gifts', '2026-11-20T02:20:00+08', 'failed')
  expect(await causes([nightly])).toHaveLength(1)
  await land('gifts', '2026-11-20T02:20:00+08', 'landed')
  expect(await causes([nightly])).toEqual([])
})

test('one channel of many is not enough, unless the job reads a part at a time', async () => {
  const ids = ['1', '2', '3']
  for (const id of ['1', '3']) await land('gifts', '2026-11-19T02:16:00+08', 'landed', `channel=${id}/type=cash`)
  await land('gifts', '2026-11-20T02:16:00+08', 'landed', 'channel=1/type=cash')
  const provenAt = '2026-11-19T18:16:00.000Z'
  expect(await causes([nightly], ids)).toEqual([{ ...stale, provenAt, unproven: { channels: 2, of: 3 } }])
  const partial = job({ cron, provenBy: '07:00', streams: ['gifts'], kind: 'backfill', range: { lastDays: 9 } })
  expect(await causes([partial], ids)).toEqual([])
  await land('gifts', '2026-11-20T02:16:00+08', 'moving', 'channel=3/type=cash')
  await land('gifts', '2026-11-19T23:59:00+08', 'landed', 'channel=2/type=cash')
  await land('gifts', '2026-11-20T02:16:00+08', 'failed', 'channel=2/type=prop')
  await land('visitors', '2026-11-20T02:16:00+08', 'landed', 'channel=2')
  expect(await causes([nightly], ids)).toMatchObject([{ unproven: { channels: 1, of: 3 } }])
  await land('gifts', '2026-11-20T02:16:00+08', 'landed', 'channel=2/type=cash')
  await land('gifts', '2026-11-20T06:59:00+08', 'landed', 'channel=2/type=prop')
  expect(await causes([nightly], ids)).toEqual([])
})

test('a channel that no run has met yet, one that is gone and one that is over are not waited for', async () => {
  await land('gifts', '2026-11-20T02:16:00+08', 'landed', 'channel=1/type=cash')
  await sql`update livehouse.channels set state = 'gone' where channel_id = '4'`.execute(database.db)
  expect(await causes([nightly], ['1', '4', '99'])).toEqual([])
  const over = { ...channelOf('2'), until: '2026-11-19' }
  const options = { jobs: [nightly], timeZone: 'Asia/Shanghai', readChannels: () => [channelOf('1'), over] }
  expect(await readJobCauses(database.db, NOW_MS, options)).toEqual([])
})

test('a channel that came back on the day is waited for from the next day on, one that has failed for days at once', async () => {
  await land('gifts', '2026-11-19T02:16:00+08', 'landed', 'channel=1/type=cash')
  await land('gifts', '2026-11-20T02:16:00+08', 'landed', 'channel=1/type=cash')
  await land('gifts', '2026-11-10T02:16:00+08', 'landed', 'channel=2/type=cash')
  await land('visitors', '2026-11-20T02:16:00+08', 'landed', 'channel=2')
  expect(await causes([nightly], ['1', '2'])).toEqual([])
  await land('visitors', '2026-11-19T02:16:00+08', 'landed', 'channel=2')
  expect(await causes([nightly], ['1', '2'])).toMatchObject([{ unproven: { channels: 1, of: 2 } }])
})

test('after days on which the service was away, what has not come back is late', async () => {
  await land('gifts', '2026-11-15T03:00:00+08')
  await land('visitors', '2026-11-20T03:00:00+08')
  expect(await causes([nightly])).toMatchObject([stale])
})

test('before the hour, the day before counts', async () => {
  await land('gifts', '2026-11-18T03:00:00+08')
  const nowMs = NOW_MS - 2 * HOUR_MS
  expect(await causes([nightly], ['1'], nowMs)).toHaveLength(1)
  await land('gifts', '2026-11-19T03:00:00+08')
  expect(await causes([nightly], ['1'], nowMs)).toEqual([])
  expect(await causes([nightly])).toHaveLength(1)
})

test('one short night is no cause, two in a row are', async () => {
  const short = job({ cron, until: '06:00' })
  await runEnded('ok', 1)
  await runEnded('waiting', 2)
  expect(await causes([short])).toEqual([])
  await runEnded('waiting', 3)
  expect(await causes([short])).toEqual([{ kind: 'unfinished', job: 'nightly', runs: 2 }])
  await runEnded('ok', 4)
  expect(await causes([short])).toEqual([])
})
