import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { readCauses } from '../../../src/app/alerts/read-causes.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'
import { ofFile } from '../../helpers/of-file.ts'

const NOW = new Date('2026-11-20T06:30:00Z')
const database = ofFile(createTestDatabase)

beforeEach(async () => {
  await sql`truncate livehouse_ops.runs, livehouse_ops.job_runs, livehouse_ops.unknown_fields, livehouse.channels cascade`.execute(
    database.db,
  )
})

interface RunRow {
  readonly command?: string
  readonly status: string
  readonly minute: number
  readonly errors?: readonly unknown[]
}

async function addRun({ command = 'sync', status, minute, errors = [] }: RunRow): Promise<string> {
  const { rows } = await sql<{ run_id: string }>`
    insert into livehouse_ops.runs (command, status, settings, started_at, finished_at, outcome)
    values (${command}, ${status}, '{}', ${NOW}, ${new Date(NOW.getTime() + minute * 60_000)}, ${JSON.stringify({ errors })})
    returning run_id`.execute(database.db)
  return rows[0]?.run_id ?? ''
}

async function addJobRun(job: string, outcome: string, error: string | null = null): Promise<void> {
  await sql`insert into livehouse_ops.job_runs (job, is_repeat, status, outcome, attempts, worker, error, started_at, finished_at)
    values (${job}, false, 'ended', ${outcome}, 1, 'host:1', ${error}, ${NOW}, ${new Date(NOW.getTime() + 1000)})`.execute(
    database.db,
  )
}

test('the last run of each command counts, and only when it is not green', async () => {
  await addRun({ status: 'failed', minute: 1 })
  await addRun({ status: 'ok', minute: 2 })
  await addRun({ command: 'backfill', status: 'ok', minute: 1 })
  const errors = [
    { stream: 'gifts', code: 'api.badBody', partition: 'a', message: 'phone 13800001234' },
    { stream: 'gifts', code: 'api.badBody', partition: 'b', message: '' },
    { stream: null, code: 'internal', partition: null, message: '' },
  ]
  const runId = await addRun({ command: 'backfill', status: 'partial', minute: 2, errors })
  await addRun({ command: 'audit', status: 'waiting', minute: 1 })
  const causes = await readCauses(database.db, NOW)
  const problems = [
    { stream: 'gifts', code: 'api.badBody', count: 2 },
    { stream: null, code: 'internal', count: 1 },
  ]
  expect(causes).toEqual([{ kind: 'run', name: 'backfill', runId, status: 'partial', problems }])
  expect(JSON.stringify(causes)).not.toContain('13800001234')
})

test('a run that was only interrupted says nothing: the one before it counts', async () => {
  const interrupted = { stream: null, code: 'run.interrupted', partition: null, message: '' }
  await addRun({ status: 'ok', minute: 1 })
  await addRun({ status: 'partial', minute: 2, errors: [interrupted] })
  expect(await readCauses(database.db, NOW)).toEqual([])
  await addRun({ status: 'partial', minute: 3, errors: [interrupted, { ...interrupted, code: 'slice.short' }] })
  expect(await readCauses(database.db, NOW)).toMatchObject([{ kind: 'run', status: 'partial' }])
})

test('what never came to its end tells its reason, without a number or an address of somebody', async () => {
  await addJobRun('nightly', 'failed', `it was begun 5 times; 13800001234 or a.b@example.com ${'y'.repeat(300)}`)
  const [cause] = await readCauses(database.db, NOW)
  const reason = expect.stringMatching(/^it was begun 5 times; … or … y+$/)
  expect(cause).toMatchObject({ runId: null, problems: [], reason })
  expect(JSON.stringify(cause).length).toBeLessThan(320)
})
