import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { status } from '../../src/cli/status.ts'
import { systemClock } from '../../src/core/clock.ts'
import { status as answers, html, missingRow } from '../helpers/fault-effects.ts'
import { first } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { startAccount } from '../helpers/start-account.ts'
import { startTestStatusServer } from '../helpers/status-server.ts'

const MINUTE_MS = 60_000

const account = ofTest(startAccount)

/** A new page each time, with an empty cache. */
const openPage = async () => {
  const clock = { now: () => account.clock.nowMs, sleep: systemClock.sleep }
  return await startTestStatusServer(account.database, { clock })
}

async function countWalks(): Promise<number> {
  const { rows } = await sql<{ n: string }>`
    select count(*) as n from livehouse_ops.slices where stream = 'visitors'`.execute(account.database.db)
  return Number(rows[0]?.n)
}

async function showStatus() {
  const { streams, gap_count, shortfalls, shortfall_count, acceptances } = await account.runJson(status)
  return { visitors: streams.visitors, gap_count, shortfalls, shortfall_count, acceptances }
}

test('reading a list every ten minutes does not make the ledger grow', async () => {
  const { emulator, clock, database } = account
  const [broken = '', channelId = ''] = emulator.channelIds
  const walk = async () => {
    clock.nowMs += 10 * MINUTE_MS
    return await account.sync('visitors')
  }
  for (let round = 0; round < 3; round += 1) expect(await walk()).toMatchObject({ code: 0 })
  const calm = await countWalks()

  const visitors = emulator.world.channels.get(channelId)?.visitors
  visitors?.remove(first(visitors.rows))
  for (let round = 0; round < 3; round += 1) expect(await walk()).toMatchObject({ code: 0 })
  expect(await countWalks()).toBe(calm)
  const { rows } = await sql`
    select channel_id from livehouse.visitors where removed_at is not null`.execute(database.db)
  expect(rows).toEqual([{ channel_id: channelId }])

  emulator.faults.push({ effect: missingRow(), endpoint: 'visitorList', channelId: broken })
  for (let round = 0; round < 2; round += 1) expect(await walk()).toMatchObject({ code: 3 })
  const short = await countWalks()
  for (let round = 0; round < 3; round += 1) expect(await walk()).toMatchObject({ code: 3 })
  expect(await countWalks()).toBe(short)
  expect(await showStatus()).toMatchObject({
    visitors: { partitions: { verified: 1, short: 1 } },
    shortfalls: [{ stream: 'visitors', partition: `channel=${broken}`, proof: 'short' }],
  })
})

test('status, page and metrics say the same of a list after its readings and old runs are pruned', async () => {
  const { emulator, database } = account
  const [channelId = ''] = emulator.channelIds
  expect(await account.sync('visitors,watch_records')).toMatchObject({ code: 0 })
  // As an older livehouse left it: four days, of which the last has no landed reading, and the one before a single one.
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
      and finished_at = (select max(finished_at) from livehouse_ops.slices
        where stream = 'visitors' and status = 'landed')`.execute(database.db)
  await sql`insert into livehouse_ops.runs (command, status, settings, started_at, finished_at)
    select command, status, settings, started_at - interval '500 days', finished_at - interval '500 days'
    from livehouse_ops.runs`.execute(database.db)
  const before = await countWalks()
  const show = async () => {
    await using server = await openPage()
    const channel = await server.text(`/channels/${channelId}`)
    // Without the metrics of the last run, which is another one by then.
    const isOfVisitors = (line: string) => line.includes('stream="visitors"') && !line.startsWith('livehouse_last_run_')
    const metrics = (await server.text('/metrics')).split('\n').filter(isOfVisitors)
    return { status: await showStatus(), channel, metrics }
  }
  const shown = await show()
  expect(shown.metrics).not.toEqual([])
  expect(await account.sync('managers')).toMatchObject({ code: 0 })
  expect(await countWalks()).toBeLessThan(before / 50)
  expect(await show()).toEqual(shown)
  const runs = await database.db.selectFrom('livehouse_ops.runs').select('run_id').orderBy('run_id').execute()
  expect(runs.map(({ run_id: id }) => id)).toEqual(['1', '3'])
})

test('a problem older than 500 others shows with its channel and in counts; the page says what it omits', async () => {
  const [first = '', second = ''] = account.emulator.channelIds
  account.emulator.faults.push({ effect: html(200), endpoint: 'userRecordList', channelId: first })
  expect((await account.sync()).code).toBe(3)
  await sql`insert into livehouse_ops.slices (run_id, stream, partition, status, proof, distinct_rows, quarantined_rows, calls,
      retries, error, reads, started_at, finished_at)
    select run_id, 'watch_records', ${`channel=${second}`}, 'failed', 'failed', 0, 0, 1, 0, 'a newer problem',
      tsrange('1990-01-01'::timestamp + n * interval '1 hour', '1990-01-01'::timestamp + (n + 1) * interval '1 hour'), now(), now()
    from livehouse_ops.runs, generate_series(1, 600) as n`.execute(account.database.db)
  await using page = await openPage()

  expect(await page.text('/')).toContain('Watch records: short or failed in 2 of 2 channels')
  expect(await page.text('/')).toContain('Only the newest 500 of 601 open issues are marked.')
  expect(await page.text('/metrics')).toContain('livehouse_open_problems{stream="watch_records"} 601')
  const list = await page.text('/channels?show=open')
  for (const channel of [first, second]) expect(list).toContain(`/channels/${channel}"`)
  expect(list).toContain('600 short or failed')
  expect(await page.text(`/channels/${first}`)).not.toContain('Nothing is open.')
  expect(await page.text(`/channels/${second}`)).toContain('… and 100 more')
})

test('a part that fails every night is one open problem, with its newest reading, until it is read', async () => {
  const { emulator, clock } = account
  const [first = ''] = emulator.channelIds
  const readOpen = async () => await account.runJson(status)
  expect((await account.sync()).code).toBe(0)
  emulator.faults.push({ effect: answers(403), endpoint: 'userRecordList', channelId: first })
  for (let night = 0; night < 3; night++) {
    clock.passHours(24)
    expect((await account.sync()).code).toBe(3)
  }
  const { shortfall_count, shortfalls } = await readOpen()
  expect(shortfall_count).toBe(1)
  expect(shortfalls).toMatchObject([{ stream: 'watch_records', partition: `channel=${first}`, proof: 'failed' }])
  expect(Date.parse(`${shortfalls[0].to.replace(' ', 'T')}+08:00`)).toBeGreaterThan(clock.nowMs - 60_000)
  emulator.faults.length = 0
  clock.passHours(24)
  expect((await account.sync()).code).toBe(0)
  expect(await readOpen()).toMatchObject({ shortfall_count: 0, shortfalls: [] })
})
