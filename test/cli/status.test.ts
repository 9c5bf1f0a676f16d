import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import { status } from '../../src/cli/status.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { forgetCoverage } from '../../src/ledger/slices/forget-coverage.ts'
import { streams } from '../../src/streams/registry.ts'
import { html, status as httpStatus, missingRow, refusal } from '../helpers/fault-effects.ts'
import { ofTest } from '../helpers/of-file.ts'
import { startAccount } from '../helpers/start-account.ts'
import { startV1Account, V1_BACKFILL } from '../helpers/v1-account.ts'

const account = ofTest(startAccount)

async function readStatus(...argv: string[]) {
  const { code, printed } = await account.run(status, argv)
  return { code, out: printed.join('\n') }
}

test('an empty database has nothing to show, is late for --max-age, and stays empty', async () => {
  await using empty = await startAccount({ isMigrated: false })
  const show = async (...argv: string[]) => await empty.run(status, argv)
  expect(await show()).toMatchObject({ code: 0, printed: ['nothing has run yet; start with livehouse sync'] })
  const { code, printed } = await show('--max-age', '26h')
  expect(code).toBe(3)
  for (const { name } of streams) expect(printed).toContain(`✗ ${name}: nothing of it has landed yet (--max-age 26h)`)
  const { rows } = await sql`select from pg_namespace where nspname like 'livehouse%'`.execute(empty.database.db)
  expect(rows).toEqual([])
})

test('status shows rows, age, proof, coverage, partitions and run, and what is older than --max-age', async () => {
  await account.sync()
  account.clock.passHours(25)
  const { code, out } = await readStatus('--max-age', '93600s')
  expect(code).toBe(0)
  expect(out).toMatch(/^visitors +120 +25 h ago +verified +whole list +2 verified +1$/m)
  // Covered until five minutes before the run began, which was at 14:30 in Shanghai.
  expect(out).toMatch(/^watch_records +\d+ +25 h ago +verified +2026-11-20 14:25 +2 verified +1$/m)
  expect(out).toContain('quarantine: empty')
  expect(out).not.toContain('✗')

  // A slice that fails does not make its stream fresh.
  account.emulator.faults.push({ effect: html(200), endpoint: 'userRecordList' })
  await account.sync('visitors,watch_records')
  account.clock.passHours(2)
  const late = await readStatus('--max-age', '26h')
  expect(`${late.code} ${late.out}`).toMatch(/^3 .*✗ watch_records of channel \d+: last landed 27 h ago, longer/s)
  expect(late.out).not.toContain('✗ visitors')
  expect((await readStatus('--max-age', '2d')).code).toBe(0)
})

test('a failed channel is shown, and older than --max-age, until it is no longer configured', async () => {
  const [channelId = ''] = account.emulator.channelIds
  account.emulator.faults.push({ effect: html(200), endpoint: 'userRecordList', channelId })
  await account.sync()
  const { code, out } = await readStatus('--max-age', '26h')
  expect(`${code} ${out}`).toMatch(new RegExp(`^3 .*✗ watch_records: nothing of channel ${channelId} has landed`, 's'))
  expect(out).toMatch(new RegExp(`^watch_records .*nothing of channel=${channelId} +1 verified, 1 failed +1$`, 'm'))

  const { db } = account.database
  await sql`update livehouse.channels set state = 'retired' where channel_id = ${channelId}`.execute(db)
  expect((await readStatus()).out).toMatch(/^watch_records .*2026-11-20 14:25 +1 verified +1$/m)
})

test('why a run failed is shown; --json prints one object with a list of stale streams', async () => {
  account.emulator.faults.push({ effect: httpStatus(401) })
  await account.sync('visitors,questionnaires')
  expect((await readStatus()).out).toMatch(/^run 1 failed: \w+ \w+ channel .*: 401/m)
  account.emulator.faults.length = 0
  await account.sync('visitors,questionnaires')
  await account.sync(['--streams', 'gifts', '--channels', String(account.emulator.channelIds[0])])
  const { code, out } = await readStatus('--json', '--max-age', '1h')
  expect(code).toBe(3)
  const failed = { run_id: '1', command: 'sync', finished_at: expect.any(String), first_error: expect.any(String) }
  expect(JSON.parse(out)).toMatchObject({
    streams: {
      visitors: {
        rows: 120,
        last_run_id: '2',
        last_landed_at: new Date(account.clock.nowMs).toISOString(),
        last_proof: 'verified',
        covered_until: null,
        partitions: { verified: 2, failed: 0 },
      },
      watch_records: { rows: 0, last_landed_at: null, last_proof: null },
    },
    runs: [{ run_id: '3', first_error: null }, { run_id: '2' }, failed],
    quarantine: {},
    stale: streams.map(({ name }) => name).filter((name) => !['visitors', 'gifts', 'questionnaires'].includes(name)),
  })
  // Without channels, streams of channels cannot be stale.
  await sql`update livehouse.channels set state = 'retired'`.execute(account.database.db)
  const { stale } = JSON.parse((await readStatus('--json', '--max-age', '1h')).out)
  expect(stale).toEqual(streams.flatMap(({ name, partitionedBy }) => (partitionedBy === 'account' ? [name] : [])))
})

test('gaps and shortfalls are shown, with what is missing and how to repair it, until they are repaired', async () => {
  await account.sync()
  const [first = '', second = ''] = account.emulator.channelIds
  const window = { from: parseWallTime('2026-11-01') ?? 0, to: parseWallTime('2026-11-03') ?? 0 }
  await forgetCoverage(account.database.db, { streams: ['watch_records'], channels: [first], window })
  account.emulator.faults.push({ effect: missingRow(0), endpoint: 'visitorList', channelId: second })
  await account.sync('visitors')

  const { out } = await readStatus()
  expect(out).toContain(`✗ watch_records channel=${first}: not covered from 2026-11-01 00:00 to 2026-11-03 00:00`)
  expect(out).toMatch(new RegExp(`✗ visitors channel=${second}: short: the source says 60, but 59 distinct`))
  expect(out).toContain('livehouse backfill reads a range again')
  const readJson = JSON.parse((await readStatus('--json')).out)
  expect(readJson).toMatchObject({ gap_count: 1, shortfall_count: 1, gaps: [{ partition: `channel=${first}` }] })

  account.emulator.faults.length = 0
  await account.sync()
  expect((await readStatus()).out).not.toMatch(/✗|^run \d+ failed/m)
})

test('the calls of version 1 that are left today are shown', async () => {
  await using v1 = await startV1Account()
  v1.setRecords(2420)
  const readText = async (settings = {}) => (await v1.run(status, [], settings)).printed.join('\n')
  const readJson = async () => JSON.parse((await v1.run(status, ['--json'])).printed.join())
  expect(await readJson()).toMatchObject({ v1_calls: null })

  v1.emulator.faults.push({ effect: httpStatus(503), endpoint: 'userRecords', page: 4 })
  await v1.run(backfill, V1_BACKFILL)
  expect(await readText()).toContain('calls left on watch_records_v1 today (2026-11-20): 4 of 10')
  const ofAccount = { scope: 'account', used: 6, left: 4, spent_at: null }
  expect(await readText({ LIVEHOUSE_V1_BUDGET: '7' })).toContain('(2026-11-20): 1 of 7')
  const calls = { service_day: '2026-11-20', budget: 10, scope: 'account', scopes: [ofAccount] }
  expect(await readJson()).toMatchObject({ v1_calls: calls })
  v1.nextDay()
  expect(await readText()).toContain('calls left on watch_records_v1 today (2026-11-21): 10 of 10')

  v1.emulator.faults.splice(0, 1, { effect: refusal(429_001), endpoint: 'userRecords' })
  await v1.run(backfill, V1_BACKFILL)
  expect(await readText()).toContain('0 of 10 (the service has refused a further one)')
})
