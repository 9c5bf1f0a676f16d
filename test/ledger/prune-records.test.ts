import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { pruneRecords, REFERRING_TABLES } from '../../src/ledger/prune-records.ts'
import { ofTest } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const DAY_MS = 86_400_000
const NOW = new Date('2026-11-20T06:30:00Z')
const database = ofTest(createTestDatabase)

const ago = (days: number) => new Date(NOW.getTime() - days * DAY_MS)
const prune = () => pruneRecords(database.db, NOW)

async function readIds(column: string, table: string): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select ${sql.ref(column)}::text as id from ${sql.table(`livehouse_ops.${table}`)}
    order by ${sql.ref(column)}`.execute(database.db)
  return rows.map(({ id }) => id)
}

/** Adds a run that ended so many days ago, or was killed if it is still `running`. */
async function addRun(days: number, status = 'ok'): Promise<string> {
  const finishedAt = status === 'running' ? null : ago(days)
  const { rows } = await sql<{ id: string }>`
    insert into livehouse_ops.runs (command, status, settings, started_at, finished_at)
    values ('sync', ${status}, '{}', ${ago(days)}, ${finishedAt}) returning run_id as id`.execute(database.db)
  return rows[0]?.id ?? ''
}

test('old runs are deleted, killed ones too, unless a table refers to them; no such table is missing', async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'livehouse_ops' and column_name = 'run_id'
      and table_name not in ('runs', 'channel_days') order by 1`.execute(database.db)
  expect(rows.map(({ name }) => name)).toEqual(REFERRING_TABLES.toSorted())
  const runOfJob = await addRun(900)
  await sql`insert into livehouse_ops.job_runs (job, is_repeat, status, attempts, worker, run_id, started_at)
    values ('nightly', false, 'ended', 1, 'host:1', ${runOfJob}, ${ago(399)}),
      ('nightly', false, 'running', 1, 'host:1', ${await addRun(401, 'running')}, ${ago(401)}),
      ('nightly', false, 'skipped', 1, 'host:1', null, ${ago(401)})`.execute(database.db)
  const runOfAcceptance = await addRun(900)
  await sql`with a as (insert into livehouse_ops.acceptances (stream, missing_rows, reason, accepted_at, expires_at)
      values ('visitors', 2, 'known', ${ago(950)}, ${ago(401)}) returning acceptance_id)
    insert into livehouse_ops.acceptance_uses select acceptance_id, ${runOfAcceptance}, 2 from a`.execute(database.db)
  await addRun(401)
  const young = [await addRun(399), await addRun(1)]
  await prune()
  expect(await readIds('run_id', 'runs')).toEqual([runOfJob, ...young])
  expect(await readIds('status', 'job_runs')).toEqual(['ended'])
})

test('old days of the call budget are deleted, whatever a clock ahead shows, and alerts except those with a notice still to send', async () => {
  for (const [scope, day] of [
    ['account', '2024-01-01'],
    ['account', '2024-01-02'],
    ['channel=9', '2024-01-01'],
    ['channel=9', '2025-11-01'],
    ['channel=9', '2026-11-01'],
  ] as const) {
    await sql`insert into livehouse_ops.call_budget values (${scope}, ${day}, 10, ${NOW}, ${NOW})`.execute(database.db)
  }
  for (const [cause, days, isSent] of [
    ['told', 401, true],
    ['young', 399, true],
    ['untold', 401, false],
  ] as const) {
    await sql`insert into livehouse_ops.alerts (cause, facts, raised_at, raised_sent_at, cleared_at, cleared_sent_at)
      values (${cause}, '{}', ${ago(950)}, ${ago(950)}, ${ago(days)},
        ${isSent ? ago(days) : null})`.execute(database.db)
  }
  await sql`insert into livehouse_ops.alerts (cause, facts, raised_at, raised_sent_at)
    values ('open', '{}', ${ago(950)}, ${ago(950)})`.execute(database.db)
  await prune()
  expect(await readIds('service_day', 'call_budget')).toEqual(['2025-11-01', '2026-11-01'])
  expect(await readIds('cause', 'alerts')).toEqual(['open', 'untold', 'young'])
  await sql`update livehouse_ops.call_budget set service_day = now() where service_day = '2026-11-01'`.execute(
    database.db,
  )
  await pruneRecords(database.db, new Date(Date.now() + 800 * DAY_MS))
  expect((await readIds('service_day', 'call_budget')).at(-1)).toBe(new Date().toISOString().slice(0, 10))
})
