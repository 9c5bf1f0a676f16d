import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { status } from '../../src/cli/status.ts'
import { sync } from '../../src/cli/sync.ts'
import { systemClock } from '../../src/core/clock.ts'
import { missingRow } from '../helpers/fault-effects.ts'
import { first } from '../helpers/first-rows.ts'
import { runJson } from '../helpers/run-json.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'
import { startTestStatusServer } from '../helpers/status-server.ts'

const MINUTE_MS = 60_000

async function countWalks({ database }: TestAccount): Promise<number> {
  const { rows } = await sql<{ n: string }>`
    select count(*) as n from livehouse_ops.slices where stream = 'visitors'`.execute(database.db)
  return Number(rows[0]?.n)
}

async function showStatus(account: TestAccount) {
  const { streams, gap_count, shortfalls, shortfall_count, acceptances } = await runJson(account, status)
  return { visitors: streams.visitors, gap_count, shortfalls, shortfall_count, acceptances }
}

test('a list that is read every ten minutes leaves no more rows in the ledger the longer it goes on', async () => {
  await using account = await startAccount()
  const { emulator, clock, run, database } = account
  const [broken = '', channelId = ''] = emulator.channelIds
  const walk = async () => {
    clock.nowMs += 10 * MINUTE_MS
    return await run(sync, ['--streams', 'visitors'])
  }
  for (let round = 0; round < 3; round += 1) expect(await walk()).toMatchObject({ code: 0 })
  const calm = await countWalks(account)

  const visitors = emulator.world.channels.get(channelId)?.visitors
  visitors?.remove(first(visitors.rows))
  for (let round = 0; round < 3; round += 1) expect(await walk()).toMatchObject({ code: 0 })
  expect(await countWalks(account)).toBe(calm)
  const { rows } = await sql`select channel_id from livehouse.visitors where removed_at is not null`.execute(
    database.db,
  )
  expect(rows).toEqual([{ channel_id: channelId }])

  emulator.faults.push({ effect: missingRow(), endpoint: 'visitorList', channelId: broken })
  for (let round = 0; round < 2; round += 1) expect(await walk()).toMatchObject({ code: 3 })
  const short = await countWalks(account)
  for (let round = 0; round < 3; round += 1) expect(await walk()).toMatchObject({ code: 3 })
  expect(await countWalks(account)).toBe(short)
  expect(await showStatus(account)).toMatchObject({
    visitors: { partitions: { verified: 1, short: 1 } },
    shortfalls: [{ stream: 'visitors', partition: `channel=${broken}`, proof: 'short' }],
  })
})

test('what status, page and metrics say of a list is the same before and after its readings are pruned', async () => {
  await using account = await startAccount()
  const { emulator, clock, run, database } = account
  const [channelId = ''] = emulator.channelIds
  expect(await run(sync, ['--streams', 'visitors,watch_records'])).toMatchObject({ code: 0 })
  // As an older livehouse left it: four days, on the last of which nothing came to its end, and on the one before only one reading at noon.
  await sql`
    insert into livehouse_ops.slices (run_id, stream, partition, status, proof, distinct_rows, quarantined_rows, calls, retries,
      error, started_at, finished_at)
    select run_id, stream, partition, case when is_landed then 'landed' else 'failed' end, case when is_landed then 'verified' else 'short' end,
      distinct_rows, 0, 1, 0, case when not is_landed then 'a row is missing' end, at, at
    from livehouse_ops.slices,
      generate_series(started_at - interval '5 days', started_at - interval '1 day', interval '10 minutes') as at,
      lateral (select at < started_at - interval '3 days' or at = started_at - interval '60 hours' as is_landed) as how
    where stream = 'visitors' order by at`.execute(database.db)
  await sql`
    insert into livehouse_ops.slices (run_id, stream, partition, status, proof, distinct_rows, quarantined_rows, calls, retries,
      started_at, finished_at)
    select run_id, stream, partition, status, proof, distinct_rows, 0, 1, 0, started_at, finished_at
    from livehouse_ops.slices where run_id = 1 and stream = 'visitors' and slice_id < 100 and status = 'landed' and proof = 'verified'
      and finished_at = (select max(finished_at) from livehouse_ops.slices where stream = 'visitors' and status = 'landed')`.execute(
    database.db,
  )
  const before = await countWalks(account)
  const show = async () => {
    // A new one each time, which has nothing in its cache.
    await using server = await startTestStatusServer(database, {
      clock: { now: () => clock.nowMs, sleep: systemClock.sleep },
    })
    const channel = await server.text(`/channels/${channelId}`)
    // Without those of the last run, which is another one by then.
    const ofList = (line: string) => line.includes('stream="visitors"') && !line.startsWith('livehouse_last_run_')
    const metrics = (await server.text('/metrics')).split('\n').filter(ofList)
    return { status: await showStatus(account), channel, metrics }
  }
  const shown = await show()
  expect(shown.metrics).not.toEqual([])
  expect(await run(sync, ['--streams', 'managers'])).toMatchObject({ code: 0 })
  expect(await countWalks(account)).toBeLessThan(before / 50)
  expect(await show()).toEqual(shown)
})

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
  clock.nowMs += 86_400_000
  expect(await run(sync, ['--streams', 'gifts'])).toMatchObject({ code: 0 })
  expect(await state()).toEqual({ ...before, runs: ['1', '3'] })
})
