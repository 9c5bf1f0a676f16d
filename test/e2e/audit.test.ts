import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { accept } from '../../src/cli/accept.ts'
import { audit } from '../../src/cli/audit.ts'
import { backfill } from '../../src/cli/backfill.ts'
import { exitCodeOfError } from '../../src/cli/failure.ts'
import { sync } from '../../src/cli/sync.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { changedRows, falseTotal, withheldRows } from '../helpers/fault-effects.ts'
import { readOpenReadings } from '../../src/ledger/open-readings.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { firstRows } from '../helpers/first-rows.ts'
import { runJson } from '../helpers/run-json.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'
import { startFilled } from '../helpers/start-filled.ts'

const HOUR_MS = 3_600_000

test('a row that is deleted by hand is named in every stream, its range is reopened, and the next sync mends it', async () => {
  await using account = await startFilled()
  const { change, text, run } = account
  const streams = '--streams=visitors,watch_records,signups,questionnaires,managers'
  await change(sql`delete from livehouse.visitors where (channel_id, user_id) = (
    select channel_id, user_id from livehouse.visitors order by first_login_at limit 1)`)
  await change(sql`delete from livehouse.watch_records where record_id = (
    select record_id from livehouse.watch_records order by entered_at limit 1)`)
  await change(sql`delete from livehouse.signups where signup_key = (
    select signup_key from livehouse.signups order by signed_up_at limit 1)`)
  await change(sql`delete from livehouse.managers where manager_id = (select min(manager_id) from livehouse.managers)`)

  const looked = await runJson(account, audit, [streams, '--no-reopen'])
  const difference = { code: 'audit.difference' }
  const errors = [difference, difference, difference, difference]
  expect(looked).toMatchObject({ command: 'audit', status: 'partial', resumes_at: null, errors })
  expect(looked.streams.watch_records.slices).toMatchObject({ verified: 1, short: 1, failed: 0 })
  expect(looked.streams.watch_records.calls).toBeLessThan(40)
  const different = looked.audit.partitions.filter(({ verdict }: { verdict: string }) => verdict === 'different')
  const lost = { differences: [{ kind: 'missing', rows: 1, keys: [expect.any(String)] }], reopened: [] }
  const partitions = ['visitors', 'watch_records', 'managers', 'signups'].map((stream) => ({ stream, ...lost }))
  expect(different).toMatchObject(partitions)

  const { code, out } = await text(streams)
  expect(code).toBe(3)
  expect(out).toMatch(
    /✗ watch_records channel=\d+: 1 row of the source is missing from the warehouse \(record_id \d+\) from /,
  )
  expect(out.match(/is no longer covered: the next livehouse sync reads it again/g)).toHaveLength(2)
  // One of the records, and of the signups those of one questionnaire alone.
  expect(await readOpenReadings(account.database.db, 9)).toMatchObject({ openCounts: { gap: 2 } })
  expect(out).toContain('partial: 4 partitions differ')
  const again = await text('--streams', 'watch_records,signups')
  expect(again.code).toBe(3)
  expect(again.out.match(/an earlier audit found a difference, and nothing has been read again/g)).toHaveLength(2)
  expect(await run(sync)).toMatchObject({ code: 0 })
  await expectTruth(account)
  expect(await text()).toMatchObject({ code: 0 })
})

test('gifts have no total: what is covered is read again and compared, also for rows that are too many', async () => {
  await using account = await startFilled()
  const { channel, text, run } = account
  channel.gifts.remove(earliest(channel.gifts.rows, ({ givenAt }) => givenAt))
  expect(await text('--streams', 'gifts', '--no-reopen')).toMatchObject({ code: 3 })
  const found = await runJson(account, audit, ['--streams', 'gifts', '--from', '2026-10-01'])
  const partitions = found.audit.partitions.filter(({ verdict }: { verdict: string }) => verdict !== 'equal')
  expect(partitions).toMatchObject([{ differences: [{ kind: 'surplus', rows: 1 }], reopened: [expect.anything()] }])
  expect(found.streams.gifts.slices).toMatchObject({ unverifiable: 3, short: 1 })
  await run(sync, ['--streams', 'gifts'])
  await run(audit, ['--streams', 'gifts', '--from', '2026-10-01'])
  await run(sync, ['--streams', 'gifts'])
  expect(await text('--streams', 'gifts', '--from', '2026-10-01')).toMatchObject({ code: 0 })
})

test('a long history that the source no longer has is kept, and no difference', async () => {
  await using account = await startFilled()
  const { channel, record, audited, database } = account
  await sql`insert into livehouse.watch_records
    select another.* from livehouse.watch_records as known, generate_series(2000, 62000) as number,
      jsonb_populate_record(known, jsonb_build_object('record_id', 910000000 + number,
        'entered_at', entered_at - number * interval '31 minutes',
        'left_at', entered_at - number * interval '31 minutes')) as another
    where known.record_id = ${record.recordId}`.execute(database.db)
  const found = await audited('--streams', 'watch_records', '--channels', channel.id)
  expect(found).toMatchObject([{ verdict: 'equal', differences: [] }])
})

test('what is gone from the source is kept and said; only what is of the last days, or too much to be read, is a difference, and nothing is reopened', async () => {
  await using account = await startFilled()
  const { channel, form, audited } = account
  const record = earliest(channel.records.rows, ({ enteredAt }) => enteredAt)
  const today = parseWallTime('2026-11-20 14:00') ?? 0
  const ended = channel.records.rows.filter(({ leftAt }) => leftAt < today)
  const recent = earliest(ended, ({ enteredAt }) => -enteredAt)
  channel.records.remove(record)
  channel.questionnaires.remove(form)
  const found = await audited('--streams', 'watch_records,signups')
  expect(found.filter(({ verdict }) => verdict === 'different')).toEqual([])
  const kept = 'no longer at the source, and kept: 1'
  expect(found.flatMap(({ notes }) => notes)).toContain(`${kept} (record_id ${record.recordId})`)
  channel.records.remove(recent)
  const later = await audited('--streams', 'watch_records')
  const differences = [{ kind: 'surplus', keys: [recent.recordId] }]
  expect(later.find(({ verdict }) => verdict === 'different')).toMatchObject({ differences, reopened: [] })
  // What is kept on purpose is said.
  const list = found.find(({ stream }) => stream === 'questionnaires')
  expect(list).toMatchObject({ verdict: 'equal', notes: [`${kept} (question_id ${form.questionId})`] })

  await sql`insert into livehouse.watch_records
    select another.* from livehouse.watch_records as known, generate_series(0, 20000) as number,
      jsonb_populate_record(known, jsonb_build_object('record_id', 910000000 + number)) as another
    where known.record_id = ${record.recordId}`.execute(account.database.db)
  const many = await audited('--streams', 'watch_records', '--channels', channel.id)
  expect(many[0]?.differences).toContainEqual(expect.objectContaining({ kind: 'count', rows: -20_002 }))
})

test('what the source announces and never delivers is a difference, unless it has been accepted', async () => {
  await using account = await startAccount()
  const { emulator, run } = account
  const [channelId = ''] = emulator.channelIds
  const ghost = earliestRecord(account)
  const effect = withheldRows((item) => Object(item).record_id === Number(ghost))
  emulator.faults.push({ effect, endpoint: 'userRecordList', channelId })
  expect(await run(sync, ['--streams', 'watch_records'])).toMatchObject({ code: 3 })
  await run(accept, ['--stream', 'watch_records', '--channel', channelId, '--reason', 'a ghost', '--days', '1'])
  const shown = (await run(audit, ['--streams', 'watch_records'])).printed.join('\n')
  expect(shown).toMatch(/~ accepted: watch_records .* the source says that there is 1 row more than it delivers from /)
  const slices = { accepted: 1, verified: 1, short: 0 }
  const accepted = await runJson(account, audit, ['--streams', 'watch_records'])
  expect(accepted).toMatchObject({ code: 0, streams: { watch_records: { slices } } })

  // Nothing is claimed any more of what was accepted, and the source still has more.
  account.clock.nowMs += 25 * HOUR_MS
  const expired = await run(audit, ['--streams', 'watch_records'])
  expect(expired.printed.join('\n')).toMatch(new RegExp(`^watch_records +channel=${channelId} .*different$`, 'm'))
})

test('what is in quarantine counts where it lies, not in another range', async () => {
  await using account = await startAccount()
  const { emulator, run, database } = account
  breakEarliestId(account)
  await run(sync, ['--streams', 'watch_records'])
  const { code, printed } = await run(audit, ['--streams', 'watch_records'])
  expect(printed.join('\n')).toMatch(/^watch_records .* 1 +equal$/m)
  expect(printed.join('\n')).not.toContain('counts differ')
  expect(code).toBe(0)
  const later = ['--streams', 'watch_records', '--channels', emulator.channelIds[0] ?? '', '--from', '2026-11-20T13:00']
  const [{ source_rows: atSource, ...partition }] = (await runJson(account, audit, later)).audit.partitions
  expect(partition).toMatchObject({ verdict: 'equal', warehouse_rows: atSource, quarantined_rows: 0 })
  await sql`delete from livehouse_ops.quarantine`.execute(database.db)
  const lost = await run(audit, ['--streams', 'watch_records'])
  const said = /1 row of the source is missing from the warehouse \(record_id unreadable item \w+\)/
  expect(lost.printed.join('\n')).toMatch(said)
  expect(lost.code).toBe(3)
})

test('rows without a readable time do not stand in for rows that are missing from a range', async () => {
  await using account = await startFilled()
  const { text, audited, database } = account
  const day = sql`(entered_at at time zone 'Asia/Shanghai')::date`
  const { rows } = await sql`
    select ${day}::text as day, (${day} + 1)::text as next, channel_id, record_id from livehouse.watch_records
    where ${day} < '2026-11-16' order by entered_at desc limit 1`.execute(database.db)
  const { day: from, next: to, channel_id: channelId, record_id: recordId } = Object(rows[0])
  await sql`update livehouse.watch_records set entered_at = null where record_id in (
    select record_id from livehouse.watch_records where channel_id = ${channelId} and ${day} < ${from}
    order by entered_at limit 3)`.execute(database.db)
  expect(await text('--streams', 'watch_records')).toMatchObject({ code: 0 })
  await sql`delete from livehouse.watch_records where record_id = ${recordId}`.execute(database.db)
  const argv = ['--streams', 'watch_records', '--channels', channelId, '--no-reopen']
  const missing = { kind: 'missing', rows: 1, keys: [recordId] }
  const part = await audited(...argv, '--from', from, '--to', to)
  expect(part).toMatchObject([{ verdict: 'different', differences: [missing] }])
  const [whole] = await audited(...argv)
  expect(whole?.differences).toContainEqual(expect.objectContaining(missing))
})

/** One record of the first channel always comes with a text in the place of its id. */
function breakEarliestId(account: TestAccount): void {
  const { emulator } = account
  const broken = Number(earliestRecord(account))
  const effect = changedRows((item) => {
    return Object(item).record_id === broken ? { ...Object(item), record_id: 'x' } : item
  })
  emulator.faults.push({ effect, endpoint: 'userRecordList', channelId: firstRows(emulator).channel.id })
}

function earliestRecord({ emulator }: TestAccount): string {
  return earliest(firstRows(emulator).channel.records.rows, ({ enteredAt }) => enteredAt).recordId
}

function earliest<Row>(rows: readonly Row[], timeOf: (row: Row) => number): Row {
  return rows.reduce((first, row) => (timeOf(row) < timeOf(first) ? row : first))
}

test('a --to far ahead is wrong for a backfill, and an audit of the whole year goes up to now', async () => {
  await using account = await startFilled()
  const argv = ['--streams', 'gifts', '--from', '2026-01-01', '--to', '2027-01-01']
  const { error } = await account.run(backfill, argv, { LIVEHOUSE_BASE_URL: 'http://127.0.0.1:1' })
  expect(exitCodeOfError(error)).toBe(2)
  expect(await account.text(...argv)).toMatchObject({ code: 0 })
})

test('what a sync could not read, though it read the rows after it, is a difference', async () => {
  await using account = await startAccount({ channels: 1, viewers: 40 })
  const lists = ['--streams', 'questionnaires,signups']
  account.emulator.faults.push({ effect: falseTotal(-1), endpoint: 'signupRecord' })
  expect(await account.run(sync, lists)).toMatchObject({ code: 3 })
  account.emulator.faults.splice(0)
  const { code, printed } = await account.run(audit, lists)
  expect([code, printed.join('\n')]).toEqual([
    3,
    expect.stringMatching(/the source has \d+ rows more than the warehouse/),
  ])
  expect(await account.run(sync, lists)).toMatchObject({ code: 0 })
  expect(await account.run(audit, lists)).toMatchObject({ code: 0 })
})
