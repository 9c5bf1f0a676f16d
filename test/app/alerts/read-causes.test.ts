import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { readCauses } from '../../../src/app/alerts/read-causes.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'
import { ofTest } from '../../helpers/of-file.ts'

const NOW = new Date('2026-11-20T06:30:00Z')
const database = ofTest(createTestDatabase)

async function addRun(
  status: string,
  minute: number,
  errors: readonly unknown[] = [],
  command = 'sync',
): Promise<string> {
  const finishedAt = new Date(NOW.getTime() + minute * 60_000)
  const { rows } = await sql<{ run_id: string }>`
    insert into livehouse_ops.runs (command, status, settings, started_at, finished_at, outcome)
    values (${command}, ${status}, '{}', ${NOW}, ${finishedAt}, ${JSON.stringify({ errors })})
    returning run_id`.execute(database.db)
  return rows[0]?.run_id ?? ''
}

test('the last run of each command counts, and only when it is not green', async () => {
  await addRun('failed', 1)
  await addRun('ok', 2)
  await addRun('ok', 1, [], 'backfill')
  const errors = [
    { stream: 'gifts', code: 'api.badBody', partition: 'a', message: 'phone 13800001234' },
    { stream: 'gifts', code: 'api.badBody', partition: 'b', message: '' },
    { stream: null, code: 'internal', partition: null, message: '' },
  ]
  const runId = await addRun('partial', 2, errors, 'backfill')
  await addRun('waiting', 1, [], 'audit')
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
  await addRun('ok', 1)
  await addRun('partial', 2, [interrupted])
  expect(await readCauses(database.db, NOW)).toEqual([])
  await addRun('partial', 3, [interrupted, { ...interrupted, code: 'slice.short' }])
  expect(await readCauses(database.db, NOW)).toMatchObject([{ kind: 'run', status: 'partial' }])
})

test('what never came to its end tells its reason, without a number or an address of somebody', async () => {
  const error = `it was begun 5 times; 13800001234 or a.b@example.com ${'y'.repeat(300)}`
  await sql`insert into livehouse_ops.job_runs (job, is_repeat, status, outcome, attempts, worker, error, started_at, finished_at)
    values ('nightly', false, 'ended', 'failed', 1, 'host:1', ${error}, ${NOW}, ${NOW})`.execute(database.db)
  const [cause] = await readCauses(database.db, NOW)
  const reason = expect.stringMatching(/^it was begun 5 times; … or … y+$/)
  expect(cause).toMatchObject({ runId: null, problems: [], reason })
  expect(JSON.stringify(cause).length).toBeLessThan(320)
})
