import { type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { countRunsWaiting, readLastJobRuns, readLastTicks } from '../../src/ledger/job-runs.ts'
import { KEPT_DAYS, pruneRecords, REFERRING_TABLES } from '../../src/ledger/prune-records.ts'
import { readCauses } from '../../src/ledger/read-causes.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'
import { referToRun } from '../helpers/refer-to-run.ts'

const DAY_MS = 86_400_000
const NOW = new Date('2026-11-20T06:30:00Z')
const { signal } = new AbortController()
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
})
beforeEach(async () => {
  for (const table of [...REFERRING_TABLES, 'runs', 'acceptances', 'backfills', 'call_budget', 'alerts']) {
    await sql`delete from ${sql.table(`livehouse_ops.${table}`)}`.execute(database.db)
  }
})

/** So many days before now. */
const ago = (days: number) => new Date(NOW.getTime() - days * DAY_MS)
const prune = () => pruneRecords(database.db, NOW, signal)

async function ids(column: string, table: string): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select ${sql.ref(column)}::text as id from ${sql.table(`livehouse_ops.${table}`)} order by ${sql.ref(column)}`.execute(
    database.db,
  )
  return rows.map(({ id }) => id)
}

async function one(insert: RawBuilder<{ id: string }>): Promise<string> {
  const { rows } = await insert.execute(database.db)
  return rows[0]?.id ?? ''
}

/** `status`: `running` stands for a run that was killed. */
async function addRun(days: number, command = 'sync', status = 'ok', errors: readonly unknown[] = []): Promise<string> {
  const finishedAt = status === 'running' ? null : ago(days)
  return await one(sql`
    insert into livehouse_ops.runs (command, status, settings, started_at, finished_at, outcome)
    values (${command}, ${status}, '{}', ${ago(days)}, ${finishedAt}, ${JSON.stringify({ errors })}) returning run_id as id`)
}

interface JobRunRow {
  readonly job?: string
  readonly isTick?: boolean
  readonly status?: string
  readonly outcome?: string | null
  readonly runId?: string | null
}

async function addJobRun(days: number, row: JobRunRow = {}): Promise<string> {
  const { job = 'nightly', isTick = true, status = 'ended', outcome = 'ok', runId = '1' } = row
  const due = isTick ? ago(days) : null
  return await one(sql`
    insert into livehouse_ops.job_runs (job, time_zone, local_time, is_repeat, due_at, status, outcome, attempts, worker, run_id,
      started_at, finished_at)
    values (${job}, 'UTC', ${due}::timestamptz at time zone 'UTC', false, ${due}, ${status}, ${outcome}, 1, 'host:1',
      ${runId}::bigint, ${ago(days)}, ${ago(days)}) returning job_run_id as id`)
}

test('old runs go, young ones stay, and of each command the last that ended and what was killed since', async () => {
  await addRun(500)
  await addRun(KEPT_DAYS + 1)
  await addRun(460, 'sync', 'running')
  const stay = [await addRun(KEPT_DAYS - 1), await addRun(1)]
  await addRun(900, 'audit')
  stay.push(
    await addRun(800, 'audit', 'failed'),
    await addRun(700, 'audit', 'running'),
    await addRun(700, 'probe', 'running'),
  )
  expect(await prune()).toBe(4)
  expect(await ids('run_id', 'runs')).toEqual(stay)
})

test('every table that names runs keeps them, and none that there is was left out', async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'livehouse_ops' and column_name = 'run_id' and table_name <> 'runs' order by 1`.execute(
    database.db,
  )
  expect(rows.map(({ name }) => name)).toEqual(REFERRING_TABLES.toSorted())
  const stay: string[] = []
  for (const table of REFERRING_TABLES) {
    const runId = await addRun(900)
    await referToRun(table, runId).execute(database.db)
    stay.push(runId)
    await addRun(900)
  }
  stay.push(await addRun(1))
  expect(await prune()).toBe(REFERRING_TABLES.length)
  expect(await ids('run_id', 'runs')).toEqual(stay)
  for (const table of REFERRING_TABLES) expect(await ids('run_id', table), table).toHaveLength(1)
})

test('of each job stays what its schedule, the alerts and the pages go by', async () => {
  await addJobRun(903)
  await addJobRun(902, { outcome: 'waiting' })
  await addJobRun(901, { status: 'running', outcome: null, isTick: false })
  await addJobRun(700, { outcome: 'waiting' })
  await addJobRun(650, { isTick: false, outcome: 'ok' })
  await addJobRun(600, { status: 'skipped', outcome: null, runId: null })
  await addJobRun(500, { job: 'audit-weekly', runId: null, outcome: 'failed' })
  await addJobRun(450, { job: 'audit-weekly', status: 'interrupted', outcome: null })
  await addJobRun(300, { job: 'young' })
  await addJobRun(299, { job: 'young' })
  const jobs = ['nightly', 'audit-weekly', 'young']
  const known = async () => [
    await readLastTicks(database.db, jobs, NOW),
    await readLastJobRuns(database.db, jobs),
    await Promise.all(jobs.map((job) => countRunsWaiting(database.db, job))),
    await readCauses(database.db, NOW),
  ]
  const before = await known()
  expect(await prune()).toBe(3)
  expect(await known()).toEqual(before)
})

test('the latest day of each scope of the call budget stays, and alerts that nobody was told of', async () => {
  for (const [scope, day] of [
    ['account', '2024-01-01'],
    ['account', '2024-01-02'],
    ['channel=9', '2024-01-01'],
    ['channel=9', '2025-11-01'],
    ['channel=9', '2026-11-01'],
  ] as const) {
    await sql`insert into livehouse_ops.call_budget values (${scope}, ${day}, 10, ${NOW}, ${NOW})`.execute(database.db)
  }
  for (const [cause, days, isTold] of [
    ['told', 401, true],
    ['young', 399, true],
    ['untold', 401, false],
  ] as const) {
    await sql`insert into livehouse_ops.alerts (cause, facts, raised_at, raised_sent_at, cleared_at, cleared_sent_at)
      values (${cause}, '{}', ${ago(950)}, ${ago(950)}, ${ago(days)}, ${isTold ? ago(days) : null})`.execute(
      database.db,
    )
  }
  await sql`insert into livehouse_ops.alerts (cause, facts, raised_at, raised_sent_at) values ('open', '{}', ${ago(950)}, ${ago(950)})`.execute(
    database.db,
  )
  expect(await prune()).toBe(3)
  expect(await ids('service_day', 'call_budget')).toEqual(['2024-01-02', '2025-11-01', '2026-11-01'])
  expect(await ids('cause', 'alerts')).toEqual(['open', 'untold', 'young'])
})

test('one call deletes ten thousand runs at most, the next ones go on, also past those that have to stay', async () => {
  await sql`insert into livehouse_ops.runs (command, status, settings, started_at, finished_at)
    select 'sync', 'ok', '{}', at, at from generate_series(1, 12000) as n, lateral (select ${ago(900)}::timestamptz + n * interval '1 minute') as t (at)`.execute(
    database.db,
  )
  const last = await addRun(1)
  expect(await prune()).toBe(10_000)
  const left = await ids('run_id', 'runs')
  // A thousand of the 2,000 stay.
  await sql`insert into livehouse_ops.slices (run_id, stream, partition, status, proof, distinct_rows, quarantined_rows, calls, retries,
      started_at, finished_at)
    select id, 'gifts', 'a', 'landed', 'verified', 0, 0, 0, 0, ${ago(900)}, ${ago(900)}
    from unnest(${left.slice(0, 1000)}::bigint[]) as t (id)`.execute(database.db)
  expect(await prune()).toBe(1000)
  expect(await ids('run_id', 'runs')).toEqual([...left.slice(0, 1000), last])
  expect(await prune()).toBe(0)
})
