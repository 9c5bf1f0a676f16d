import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { JobDefinition, Job } from '../../../src/core/define-job.ts'
import { type ExpectedStream, readJobCauses } from '../../../src/scheduler/alerts/read-job-causes.ts'
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

interface Given {
  readonly nowMs?: number
  readonly parts?: ExpectedStream['parts']
}

const partOf = (part: string, isNew = false) => ({ part, isNew })

function causes(
  jobs: readonly Job[],
  { nowMs = NOW_MS, parts = [partOf('channel=1')] }: Given = {},
) {
  return readJobCauses(database.db, nowMs, {
    jobs,
    timeZone: 'Asia/Shanghai',
    partsOf: async () => [{ stream: 'gifts', parts }],
  })
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

const nightly = job({ cron, provenBy: '07:00' })
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

test('one part of many is not enough, unless any is', async () => {
  const parts = ['1/type=cash', '1/type=prop', '2/type=cash', '2/type=prop', '3/type=cash'].map((each) =>
    partOf(`channel=${each}`),
  )
  await land('gifts', '2026-11-20T02:16:00+08', 'landed', 'channel=1/type=cash')
  const provenAt = '2026-11-19T18:16:00.000Z'
  expect(await causes([nightly], { parts })).toEqual([{ ...stale, provenAt, unproven: { channels: 3, of: 3 } }])
  expect(await causes([nightly], { parts: 'any' })).toEqual([])
  await land('gifts', '2026-11-20T02:16:00+08', 'moving', 'channel=1/type=prop')
  await land('gifts', '2026-11-20T02:16:00+08', 'moving', 'channel=3/type=cash')
  await land('gifts', '2026-11-19T23:59:00+08', 'landed', 'channel=2/type=cash')
  await land('gifts', '2026-11-20T02:16:00+08', 'failed', 'channel=2/type=prop')
  await land('visitors', '2026-11-20T02:16:00+08', 'landed', 'channel=2/type=prop')
  expect(await causes([nightly], { parts })).toMatchObject([{ unproven: { channels: 1, of: 3 } }])
  await land('gifts', '2026-11-20T02:16:00+08', 'landed', 'channel=2/type=cash')
  await land('gifts', '2026-11-20T06:59:00+08', 'landed', 'channel=2/type=prop')
  expect(await causes([nightly], { parts })).toEqual([])
})

test('what was met only on the day may wait for its first reading, and no longer', async () => {
  await land('gifts', '2026-11-20T02:16:00+08')
  const parts = [partOf('channel=1'), partOf('channel=2', true)]
  expect(await causes([nightly], { parts })).toEqual([])
  await land('gifts', '2026-11-19T02:16:00+08', 'landed', 'channel=2')
  expect(await causes([nightly], { parts })).toMatchObject([{ unproven: { channels: 1, of: 2 } }])
})

test('a part that has failed for days is late also where its channel was changed on the day, unless nothing of it was read', async () => {
  await land('gifts', '2026-11-20T02:16:00+08')
  await land('gifts', '2026-11-17T02:16:00+08', 'landed', 'channel=2')
  const parts = [partOf('channel=1'), partOf('channel=2', true)]
  expect(await causes([nightly], { parts })).toEqual([])
  await land('visitors', '2026-11-19T02:16:00+08', 'landed', 'channel=2')
  await land('visitors', '2026-11-20T02:16:00+08', 'landed', 'channel=2')
  expect(await causes([nightly], { parts })).toMatchObject([{ unproven: { channels: 1, of: 2 } }])
})

test('before the hour, the day before counts', async () => {
  await land('gifts', '2026-11-18T03:00:00+08')
  const nowMs = NOW_MS - 2 * HOUR_MS
  expect(await causes([nightly], { nowMs })).toHaveLength(1)
  await land('gifts', '2026-11-19T03:00:00+08')
  expect(await causes([nightly], { nowMs })).toEqual([])
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
