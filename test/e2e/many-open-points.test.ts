import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { status } from '../../src/cli/status.ts'
import { sync } from '../../src/cli/sync.ts'
import { systemClock } from '../../src/core/clock.ts'
import { html, status as answers } from '../helpers/fault-effects.ts'
import { runJson } from '../helpers/run-json.ts'
import { startAccount } from '../helpers/start-account.ts'
import { startTestStatusServer } from '../helpers/status-server.ts'

test('a problem behind 500 newer ones shows with its channel and in the counts, and the page says what it does not mark', async () => {
  await using account = await startAccount()
  const { emulator, database, clock, run } = account
  const [first = '', second = ''] = emulator.channelIds
  emulator.faults.push({ effect: html(200), endpoint: 'userRecordList', channelId: first })
  expect((await run(sync)).code).toBe(3)
  await sql`insert into livehouse_ops.slices (run_id, stream, partition, status, proof, distinct_rows, quarantined_rows, calls,
      retries, error, reads, started_at, finished_at)
    select run_id, 'watch_records', ${`channel=${second}`}, 'failed', 'failed', 0, 0, 1, 0, 'a newer problem',
      tsrange('1990-01-01'::timestamp + n * interval '1 hour', '1990-01-01'::timestamp + (n + 1) * interval '1 hour'), now(), now()
    from livehouse_ops.runs, generate_series(1, 600) as n`.execute(database.db)
  await using page = await startTestStatusServer(database, {
    clock: { now: () => clock.nowMs, sleep: systemClock.sleep },
  })

  expect(await page.text('/')).toContain('Watch records: short or failed in 2 of 2 channels')
  expect(await page.text('/')).toContain('Only the newest 500 of 601 open points are marked.')
  expect(await page.text('/metrics')).toContain('livehouse_open_problems{stream="watch_records"} 601')
  const list = await page.text('/channels?show=open')
  for (const channel of [first, second]) expect(list).toContain(`/channels/${channel}"`)
  expect(list).toContain('600 short or failed')
  expect(await page.text(`/channels/${first}`)).not.toContain('Nothing is open.')
  expect(await page.text(`/channels/${second}`)).toContain('… and 100 more')
})

test('a part that fails night after night is one open point, with its newest reading, until it is read', async () => {
  await using account = await startAccount()
  const { emulator, clock, run } = account
  const [first = ''] = emulator.channelIds
  const readOpen = async () => await runJson(account, status)
  expect((await run(sync)).code).toBe(0)
  emulator.faults.push({ effect: answers(403), endpoint: 'userRecordList', channelId: first })
  for (let night = 0; night < 3; night++) {
    clock.nowMs += 86_400_000
    expect((await run(sync)).code).toBe(3)
  }
  const { shortfall_count, shortfalls } = await readOpen()
  expect(shortfall_count).toBe(1)
  expect(shortfalls).toMatchObject([{ stream: 'watch_records', partition: `channel=${first}`, proof: 'failed' }])
  expect(Date.parse(`${shortfalls[0].to.replace(' ', 'T')}+08:00`)).toBeGreaterThan(clock.nowMs - 60_000)
  emulator.faults.length = 0
  clock.nowMs += 86_400_000
  expect((await run(sync)).code).toBe(0)
  expect(await readOpen()).toMatchObject({ shortfall_count: 0, shortfalls: [] })
})
