import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { accept } from '../../src/cli/accept.ts'
import { backfill } from '../../src/cli/backfill.ts'
import { ledger } from '../../src/cli/ledger.ts'
import { status } from '../../src/cli/status.ts'
import { sync } from '../../src/cli/sync.ts'
import { readRunReports } from '../../src/ledger/runs/run-reports.ts'
import { html, missingRow, refusal } from '../helpers/fault-effects.ts'
import { ofTest } from '../helpers/of-file.ts'
import { startAccount } from '../helpers/start-account.ts'

const account = ofTest(startAccount)
const RECORDS = ['--streams', 'watch_records']
/** Ends nine days before the time of the clock; the lookback of watch records is three. */
const RANGE = ['--from', '2026-11-07', '--to', '2026-11-11']

const requestedWindows = (after: number) =>
  account.emulator.calls
    .slice(after)
    .filter(({ endpoint }) => endpoint === 'userRecordList')
    .map(({ channelId, params }) => [channelId, params.start_time, params.end_time])

test('a range forgotten inside a slice is a gap, and the next sync reads exactly that and its lookback', async () => {
  const { emulator, run } = account
  const [first = '', second = ''] = emulator.channelIds
  await run(sync, RECORDS)
  const quiet = emulator.calls.length
  await run(sync, RECORDS)
  const lookback = requestedWindows(quiet)
  expect(lookback).toHaveLength(2)

  const forgetRun = await run(ledger, ['forget', ...RANGE, ...RECORDS, '--channels', first])
  expect(forgetRun).toMatchObject({ code: 0 })
  expect(forgetRun.printed.join('\n')).toMatch(new RegExp(`^watch_records +channel=${first} +1$`, 'm'))
  expect(forgetRun.printed.join('\n')).toContain('1 slice in 1 partition. The next sync reads it again.')
  const [last] = await readRunReports(account.database.db, { count: 1 })
  expect(last).toMatchObject({ command: 'ledger forget', status: 'ok' })
  const output = (await run(ledger, ['show', ...RECORDS])).printed.join('\n')
  expect(output).toContain(`watch_records channel=${first}: last landed 2026-11-20 14:30, verified
  covered  2015-01-01 to 2026-11-07
  covered  2026-11-11 to 2026-11-20 14:25
  gap      2026-11-07 to 2026-11-11
  gap      2026-11-20 14:25 to 2026-11-20 14:30`)
  expect(output).toContain(`watch_records channel=${second}: last landed 2026-11-20 14:30, verified
  covered  2015-01-01 to 2026-11-20 14:25
`)

  const before = emulator.calls.length
  expect(await run(sync, RECORDS)).toMatchObject({ code: 0 })
  // Each request asks for a minute more on both sides.
  const forgottenRange = [first, '2026-11-06 23:59:00', '2026-11-11 00:01:00']
  expect(requestedWindows(before)).toHaveLength(3)
  expect(new Set(requestedWindows(before))).toEqual(new Set([...lookback, forgottenRange]))
  const covered = (await run(ledger, RECORDS)).printed.filter((line) => line.startsWith('  covered'))
  expect(covered).toEqual(Array(2).fill('  covered  2015-01-01 to 2026-11-20 14:25'))
})

test('everything can be forgotten, except of streams without a time filter', async () => {
  await account.run(sync)
  const allTime = ['forget', '--from', '1970-01-01', '--to', '9999-12-31']
  const selected = await account.run(ledger, ['forget', '--streams', 'gifts,visitors'])
  expect(selected.printed.join('\n')).toContain('visitors: nothing to forget; every sync reads the whole list anyway.')
  expect((await account.run(ledger, [...allTime, '--streams', 'visitors'])).printed[0]).toContain('nothing is')
  const all = (await account.run(ledger, allTime)).printed.map((line) => line.split(' ')[0])
  expect(all).toEqual(expect.arrayContaining(['watch_records', 'signups']))
  expect(all).not.toContain('gifts')
  const { rows } = await sql`select from livehouse_ops.slices
    where status = 'landed' and covers is not null`.execute(account.database.db)
  expect(rows).toEqual([])
})

test('a failure is shown until a later reading succeeds; a part cut off an earlier one does not hide it', async () => {
  const { emulator, run, clock, database } = account
  const [first = ''] = emulator.channelIds
  const problems = async (...argv: string[]) =>
    (await run(ledger, ['show', ...argv])).printed.filter((line) => line.startsWith('  failed'))
  for (const endpoint of ['userRecordList', 'visitorList'] as const)
    emulator.faults.push({ effect: html(200), endpoint, channelId: first })
  expect(await run(sync)).toMatchObject({ code: 3 })
  expect(await problems()).toEqual([
    expect.stringMatching(/^ {2}failed {3}whole list: POST visitorList /),
    expect.stringMatching(/^ {2}failed {3}2015-01-01 to 2026-11-20 14:30: POST userRecordList /),
  ])
  expect(await problems('--to', '2014-01-01', '--from', '2013-01-01', ...RECORDS)).toEqual([])
  const [fault] = emulator.faults.splice(0)
  clock.nowMs += 3_600_000
  await run(sync)
  expect(await problems()).toEqual([])

  if (fault) emulator.faults.push(fault)
  clock.nowMs += 3_600_000
  expect(await run(backfill, ['--from', '2026-11-12', '--to', '2026-11-13', ...RECORDS])).toMatchObject({ code: 3 })
  const failed = await problems()
  expect(failed).toHaveLength(1)
  await run(ledger, ['forget', ...RANGE, ...RECORDS])
  expect(await problems()).toEqual(failed)
  const { rows } = await sql`select latest_proof from livehouse_ops.latest_readings
    where stream = 'watch_records' and partition = ${`channel=${first}`}`.execute(database.db)
  expect(rows).toEqual([{ latest_proof: 'failed' }])
})

test('many partitions are summarized, and listed if their channels are named', async () => {
  const ids = Array.from({ length: 30 }, (_, index) => `${index + 1}`)
  const settings = { LIVEHOUSE_CHANNELS: ids.join(',') }
  const all = await account.run(ledger, [], settings)
  expect(all.printed.length).toBeLessThan(20)
  expect(all.printed.join('\n')).toMatch(/--channels shows each of the \d{3} partitions/)
  const selected = await account.run(ledger, ['--channels', ids.slice(0, 25).join(',')], settings)
  expect(selected.printed.join('\n')).toContain('gifts channel=25/type=prop: never read')
})

test('a backfill before the start of the history that failed or was accepted is gone once it is forgotten', async () => {
  const { emulator, run } = account
  const settings = { LIVEHOUSE_HISTORY_FROM: '2026-11-12' }
  await run(sync, ['--streams', 'watch_records,questionnaires'], settings)
  emulator.faults.push({ effect: refusal(400001), endpoint: 'userRecordList' })
  const old = ['--from', '2026-11-01', '--to', '2026-11-10', ...RECORDS]
  expect(await run(backfill, old, settings)).toMatchObject({ code: 3 })
  emulator.faults.length = 0
  const problems = async () => JSON.parse((await run(status, ['--json'], settings)).printed.join()).shortfall_count
  expect(await problems()).toBe(2)
  expect((await run(ledger, ['forget', ...old], settings)).printed.join('\n')).toContain('2 slices in 2 partitions')
  expect(await problems()).toBe(0)

  const [channel = ''] = emulator.channelIds
  for (const endpoint of ['userRecordList', 'signupRecord'] as const)
    emulator.faults.push({ effect: missingRow(0), endpoint, channelId: channel })
  const both = [...old.slice(0, 4), '--streams', 'watch_records,signups']
  expect(await run(backfill, both, settings)).toMatchObject({ code: 3 })
  for (const stream of ['watch_records', 'signups'])
    await run(accept, ['--stream', stream, '--channel', channel, '--reason', 'known', '--days', '1'], settings)
  await run(ledger, ['forget', ...both], settings)
  account.clock.passHours(25)
  await run(sync, ['--streams', 'managers'], settings)
  expect(await problems()).toBe(0)
})
