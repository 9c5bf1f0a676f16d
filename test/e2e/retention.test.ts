import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { startAccount } from '../helpers/start-account.ts'

const DAY_MS = 86_400_000

test('a run that has ended deletes old runs, and the ledger and its rows stay as they are', async () => {
  await using account = await startAccount()
  const { run, clock, database: own } = account
  const state = async () => {
    const { rows } = await sql`
      select (select count(*) from livehouse_ops.slices where run_id = 1) as slices,
        (select count(*) from livehouse.visitors where run_id = 1) as rows,
        array(select run_id from livehouse_ops.runs order by run_id) as runs`.execute(own.db)
    return rows[0]
  }
  expect(await run(sync, ['--streams', 'visitors'])).toMatchObject({ code: 0 })
  await sql`insert into livehouse_ops.runs (command, status, settings, started_at, finished_at)
    select command, status, settings, started_at, finished_at from livehouse_ops.runs`.execute(own.db)
  await sql`update livehouse_ops.runs set started_at = started_at - interval '500 days',
    finished_at = finished_at - interval '500 days'`.execute(own.db)
  const before = Object(await state())
  expect(Number(before.slices)).toBeGreaterThan(0)
  clock.nowMs += DAY_MS
  expect(await run(sync, ['--streams', 'gifts'])).toMatchObject({ code: 0 })
  expect(await state()).toEqual({ ...before, runs: ['1', '3'] })
})
