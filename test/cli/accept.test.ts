import { expect, test } from 'vitest'
import { accept } from '../../src/cli/accept.ts'
import { backfill } from '../../src/cli/backfill.ts'
import { ledger } from '../../src/cli/ledger.ts'
import { status } from '../../src/cli/status.ts'
import { missingRow, noRows, refusal, whereAsked } from '../helpers/fault-effects.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'

const REASON = ['--reason', 'two ghosts']

/** From now on each answer lacks this many rows, which its total still counts. */
function withhold({ emulator }: TestAccount, endpoint: string, rows: number): void {
  const [channelId = ''] = emulator.channelIds
  emulator.faults.length = 0
  for (let row = 0; row < rows; row++) emulator.faults.push({ effect: missingRow(0), endpoint, channelId })
}

async function syncStream(account: TestAccount, stream: string) {
  const { code, streams } = await account.sync(stream)
  return { code, slices: streams[stream].slices }
}

async function startShort(stream: string, endpoint: string, rows = 1) {
  const account = await startAccount()
  withhold(account, endpoint, rows)
  const [channel = ''] = account.emulator.channelIds
  return Object.assign(account, { channel, place: ['--stream', stream, '--channel', channel] })
}

test('an accepted shortfall does not make a run partial, and is shown as accepted, never as verified', async () => {
  await using account = await startShort('visitors', 'visitorList')
  const { run, channel, place } = account
  expect(await syncStream(account, 'visitors')).toMatchObject({ code: 3, slices: { short: 1, verified: 1 } })

  const accepted = await run(accept, [...place, ...REASON])
  const until = `1 row may be missing until 2026-12-20 14:30: two ghosts`
  expect(accepted.printed).toEqual([`accepted (1): visitors channel=${channel}: ${until}`])
  const slices = { verified: 1, agreed: 0, unverifiable: 0, moving: 0, short: 0, accepted: 1, failed: 0 }
  expect(await syncStream(account, 'visitors')).toEqual({ code: 0, slices })
  const output = (await run(status)).printed.join('\n')
  expect(output).toMatch(/^visitors .* 1 verified, 1 accepted +2$/m)
  expect(output).toContain(`~ accepted (1): visitors channel=${channel}: 1 row may be missing`)
  expect(output).not.toContain('✗')
  expect(await account.runJson(status)).toMatchObject({
    shortfall_count: 0,
    streams: { visitors: { partitions: { accepted: 1, verified: 1 } } },
    acceptances: [{ number: '1', missing_rows: 1, last_taken_rows: 1, state: 'standing', reason: 'two ghosts' }],
  })
  const parts = (await run(ledger, ['--streams', 'visitors'])).printed.join('\n')
  expect(parts).toContain(`visitors channel=${channel}: last landed 2026-11-20 14:30, accepted
  accepted whole list: 1 row missing, by acceptance 1 (livehouse status)`)
})

test('a shortfall that exceeds the accepted one is short again until it is accepted too', async () => {
  await using account = await startShort('visitors', 'visitorList')
  const { run, place } = account
  await syncStream(account, 'visitors')
  await run(accept, [...place, ...REASON])
  withhold(account, 'visitorList', 2)
  expect(await syncStream(account, 'visitors')).toMatchObject({ code: 3, slices: { short: 1, accepted: 0 } })
  await run(accept, [...place, ...REASON])
  expect(await syncStream(account, 'visitors')).toMatchObject({ code: 0, slices: { accepted: 1 } })
  withhold(account, 'visitorList', 1)
  await syncStream(account, 'visitors')
  const { acceptances } = await account.runJson(status)
  expect(acceptances).toMatchObject([{ number: '2', missing_rows: 2, last_taken_rows: 1, state: 'standing' }])
  withhold(account, 'visitorList', 0)
  expect(await syncStream(account, 'visitors')).toMatchObject({ code: 0, slices: { verified: 2 } })
  await account.expectTruth(['visitors'])
})

test('an acceptance is for one stream of one channel, whatever else is accepted', async () => {
  await using account = await startShort('visitors', 'visitorList', 2)
  const { run, emulator, database, channel } = account
  const [, other = ''] = emulator.channelIds
  emulator.faults.push({ effect: missingRow(0), endpoint: 'visitorList', channelId: other })
  emulator.faults.push({ effect: missingRow(0), endpoint: 'getQuestionList', channelId: channel })
  expect(await account.sync('visitors,questionnaires')).toMatchObject({ code: 3 })
  const slices = database.db.selectFrom('livehouse_ops.slices').where('acceptance_id', 'is not', null)
  const places = ['visitors', channel, 'visitors', other, 'questionnaires', channel]
  for (const left of [2, 1, 0]) {
    const [stream = '', id = ''] = places.splice(0, 2)
    await run(accept, ['--stream', stream, '--channel', id, ...REASON])
    expect(await account.runJson(status)).toMatchObject({ shortfall_count: left })
    expect(await slices.select('proof').distinct().execute()).toEqual([{ proof: 'accepted' }])
    // The first acceptance then has room for another row, but none of another channel.
    if (left === 2) emulator.faults.shift()
    expect((await account.sync('visitors,questionnaires')).errors).toHaveLength(left)
  }
})

test('when an acceptance has expired, its range is read again and is short', async () => {
  await using account = await startShort('watch_records', 'userRecordList')
  const { run, channel, place, clock } = account
  expect(await syncStream(account, 'watch_records')).toMatchObject({ code: 3, slices: { short: 1 } })
  expect(await run(accept, [...place, ...REASON, '--days', '7'])).toMatchObject({ code: 0 })
  // Covered at once, because the rows that came have been written.
  const output = (await run(ledger, ['--streams', 'watch_records'])).printed.join('\n')
  expect(output).toContain(`watch_records channel=${channel}: last landed 2026-11-20 14:30, accepted
  covered  2015-01-01 to 2026-11-20 14:25
  gap      2026-11-20 14:25 to 2026-11-20 14:30
  accepted 2015-01-01 to 2026-11-20 14:30: 2 rows missing`)
  expect(await syncStream(account, 'watch_records')).toMatchObject({ code: 0, slices: { short: 0 } })
  // A part of the range that lacks more is accepted beside it.
  withhold(account, 'userRecordList', 3)
  const part = ['--streams', 'watch_records', '--from', '2026-11-01', '--to', '2026-11-19']
  expect(await run(backfill, part)).toMatchObject({ code: 3 })
  await run(accept, [...place, ...REASON, '--days', '7'])
  expect((await account.runJson(status)).acceptances).toHaveLength(2)
  withhold(account, 'userRecordList', 1)

  clock.passHours(7 * 24)
  expect((await run(status)).printed.join('\n')).toContain('; the next sync reads it again')
  expect(await syncStream(account, 'watch_records')).toMatchObject({ code: 3, slices: { short: 1 } })
  withhold(account, 'userRecordList', 0)
  expect(await syncStream(account, 'watch_records')).toMatchObject({ code: 0, slices: { accepted: 0 } })
  await account.expectTruth(['watch_records'])
})

test('signups that came land with the sync after their acceptance, which does not apply to other streams', async () => {
  await using account = await startShort('signups', 'signupRecord')
  const { run, place, database, emulator, channel } = account
  emulator.faults.push({ effect: whereAsked(({ to = 2e9 }) => to < 1e9, refusal(400000)), endpoint: 'signupRecord' })
  expect(await syncStream(account, 'signups')).toMatchObject({ code: 3 })
  account.clock.passHours(24)
  expect(await syncStream(account, 'signups')).toMatchObject({ code: 3 })
  const { printed } = await run(accept, [...place, ...REASON])
  expect(await account.runJson(status)).toMatchObject({ shortfall_count: 0, shortfalls: [] })
  expect(printed[1]).toBe('The rows that did come land with the next livehouse sync.')
  expect((await run(ledger, ['--streams', 'signups'])).printed.join('\n')).toMatch(
    new RegExp(`^signups channel=${channel}/question=.*: never read\n {2}gap .*\n {2}accepted `, 'm'),
  )
  expect(await syncStream(account, 'signups')).toMatchObject({ code: 0, slices: { short: 0 } })
  const isHere = (row: { readonly channel_id?: unknown }) => row.channel_id === channel
  const rows = await readStreamTable(database.db, 'signups')
  const { signups } = emulator.truth()
  const forms = new Set(signups.filter(isHere).map((row) => row.question_id))
  expect(rows.length).toBeGreaterThanOrEqual(signups.length - forms.size)
  expect(rows.some(isHere)).toBe(true)

  withhold(account, 'signupRecord', forms.size)
  expect(await syncStream(account, 'signups')).toMatchObject({ code: 3 })
  account.emulator.faults.push({ effect: missingRow(0), endpoint: 'visitorList', channelId: channel })
  expect(await syncStream(account, 'visitors')).toMatchObject({ code: 3, slices: { short: 1 } })
})

test('a sudden drop can be accepted at once, but nothing can be accepted if nothing is short', async () => {
  await using account = await startShort('visitors', 'visitorList', 0)
  const { run, place, emulator, channel } = account
  await account.sync('visitors,managers')
  for (const scope of [place, ['--stream', 'managers']]) {
    const { problems } = await run(accept, [...scope, ...REASON])
    expect(problems).toEqual([expect.stringContaining('has no shortfall to accept')])
  }
  emulator.faults.push({ effect: noRows(), endpoint: 'visitorList', channelId: channel })
  expect(await syncStream(account, 'visitors')).toMatchObject({ code: 3, slices: { short: 1 } })
  const { printed } = await run(accept, [...place, ...REASON])
  expect(printed.join()).toContain(`visitors channel=${channel}: 60 rows may be missing`)
  expect(await syncStream(account, 'visitors')).toMatchObject({ code: 0, slices: { short: 0 } })
})
