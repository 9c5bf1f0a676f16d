import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { audit } from '../../src/cli/audit.ts'
import { backfill } from '../../src/cli/backfill.ts'
import { exitCodeOfError } from '../../src/cli/exit-codes.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { readOpenReadings } from '../../src/ledger/open-readings.ts'
import { first } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { startFilled } from '../helpers/start-filled.ts'

const account = ofTest(startFilled)

test('an audit names rows deleted by hand and reopens their ranges; the next sync restores them', async () => {
  const { change, text, emulator } = account
  emulator.switches.recordFilterTime = 'both'
  const streams = '--streams=visitors,watch_records,signups,questionnaires,managers'
  await change(sql`update livehouse.visitors set removed_at = now() where (channel_id, user_id) = (
    select channel_id, user_id from livehouse.visitors order by first_login_at limit 1)`)
  await change(sql`delete from livehouse.watch_records where record_id = (
    select record_id from livehouse.watch_records order by entered_at limit 1)`)
  await change(sql`delete from livehouse.signups where signup_key = (
    select signup_key from livehouse.signups order by signed_up_at limit 1)`)
  await change(sql`delete from livehouse.managers where manager_id = (select min(manager_id) from livehouse.managers)`)

  const report = await account.runJson(audit, [streams, '--no-reopen'])
  const difference = { code: 'audit.difference' }
  const errors = [difference, difference, difference, difference]
  expect(report).toMatchObject({ command: 'audit', status: 'partial', resumes_at: null, errors })
  expect(report.streams.watch_records.slices).toMatchObject({ verified: 1, short: 1, failed: 0 })
  expect(report.streams.watch_records.calls).toBeLessThan(40)
  const different = report.audit.partitions.filter(({ verdict }: { verdict: string }) => verdict === 'different')
  const missing = { differences: [{ kind: 'missing', rows: 1, keys: [expect.any(String)] }], reopened: [] }
  const partitions = ['visitors', 'watch_records', 'managers', 'signups'].map((stream) => ({ stream, ...missing }))
  expect(different).toMatchObject(partitions)

  const { code, out } = await text(streams)
  expect(code).toBe(3)
  const line = /✗ watch_records channel=\d+: 1 row of the source is missing from the warehouse \(record_id \d+\) from /
  expect(out).toMatch(line)
  expect(out.match(/is no longer covered: the next livehouse sync reads it again/g)).toHaveLength(2)
  // One gap of watch records, and one of the signups of a single questionnaire.
  expect(await readOpenReadings(account.database.db, 9)).toMatchObject({ openCounts: { gap: 2 } })
  expect(out).toContain('partial: 4 partitions differ')
  const secondAudit = await text('--streams', 'watch_records,signups')
  expect(secondAudit.code).toBe(3)
  expect(secondAudit.out.match(/an earlier audit found a difference, and it has not been read again/g)).toHaveLength(2)
  expect(await account.sync()).toMatchObject({ code: 0 })
  await account.expectTruth()
  expect(await text()).toMatchObject({ code: 0 })
})

test('an audit of gifts, which have no total, reads the covered range again and finds surplus rows too', async () => {
  const { channel, text, run } = account
  const year = ['--streams', 'gifts', '--from', '2026-01-01', '--to', '2027-01-01']
  const { error } = await run(backfill, year, { LIVEHOUSE_BASE_URL: 'http://127.0.0.1:1' })
  expect(exitCodeOfError(error)).toBe(2)
  expect(await text(...year)).toMatchObject({ code: 0 })
  channel.gifts.remove(earliest(channel.gifts.rows, ({ givenAt }) => givenAt))
  expect(await text('--streams', 'gifts', '--no-reopen')).toMatchObject({ code: 3 })
  const report = await account.runJson(audit, ['--streams', 'gifts', '--from', '2026-10-01'])
  const partitions = report.audit.partitions.filter(({ verdict }: { verdict: string }) => verdict !== 'equal')
  expect(partitions).toMatchObject([{ differences: [{ kind: 'surplus', rows: 1 }], reopened: [expect.anything()] }])
  expect(report.streams.gifts.slices).toMatchObject({ unverifiable: 3, short: 1 })
  await account.sync('gifts')
  await run(audit, ['--streams', 'gifts', '--from', '2026-10-01'])
  await account.sync('gifts')
  expect(await text('--streams', 'gifts', '--from', '2026-10-01')).toMatchObject({ code: 0 })
})

test('a long history that the source no longer has is no difference', async () => {
  await sql`insert into livehouse.watch_records
    select another.* from livehouse.watch_records as known, generate_series(2000, 26000) as number,
      jsonb_populate_record(known, jsonb_build_object('record_id', 910000000 + number,
        'entered_at', entered_at - number * interval '31 minutes',
        'left_at', entered_at - number * interval '31 minutes')) as another
    where known.record_id = ${account.record.recordId}`.execute(account.database.db)
  const partitions = await account.runAudit('--streams', 'watch_records', '--channels', account.channel.id)
  expect(partitions).toMatchObject([{ verdict: 'equal', differences: [] }])
})

test('rows gone from the source are noted; they differ only if recent or too many, and reopen nothing', async () => {
  const { channel, form, runAudit: audited } = account
  const record = earliest(channel.records.rows, ({ enteredAt }) => enteredAt)
  const ended = channel.records.rows.filter(({ leftAt }) => leftAt < (parseWallTime('2026-11-20 14:00') ?? 0))
  const recent = earliest(ended, ({ enteredAt }) => -enteredAt)
  channel.records.remove(record)
  channel.questionnaires.remove(form)
  const partitions = await audited('--streams', 'watch_records,signups')
  expect(partitions.filter(({ verdict }) => verdict === 'different')).toEqual([])
  const note = 'no longer at the source, and kept: 1'
  expect(partitions.flatMap(({ notes }) => notes)).toContain(`${note} (record_id ${record.recordId})`)
  const channelPartition = partitions.find(({ notes }) => notes.join().includes(`${note} (record_id`))
  expect(Number(channelPartition?.warehouse_rows) - Number(channelPartition?.source_rows)).toBe(1)
  channel.records.remove(recent)
  const later = await audited('--streams', 'watch_records')
  const differences = [{ kind: 'surplus', keys: [recent.recordId] }]
  expect(later.find(({ verdict }) => verdict === 'different')).toMatchObject({ differences, reopened: [] })
  const list = partitions.find(({ stream }) => stream === 'questionnaires')
  expect(list).toMatchObject({ verdict: 'equal', notes: [`${note} (question_id ${form.questionId})`] })

  await sql`insert into livehouse.watch_records
    select another.* from livehouse.watch_records as known, generate_series(0, 20000) as number,
      jsonb_populate_record(known, jsonb_build_object('record_id', 910000000 + number)) as another
    where known.record_id = ${record.recordId}`.execute(account.database.db)
  const many = await audited('--streams', 'watch_records', '--channels', channel.id)
  expect(many[0]?.differences).toContainEqual(expect.objectContaining({ kind: 'count', rows: -20_002 }))
})

test('rows without a readable time do not mask rows that are missing from a range', async () => {
  const { text, runAudit: audited, database } = account
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

test('a new manager is no difference; a list with nothing to compare with is not compared', async () => {
  const { emulator, runAudit: audited, text, clock } = account
  const { managers } = emulator.world
  managers.add({ ...first(managers.rows), id: '99001', createdOn: '2026-11-20' })
  expect(await text('--streams', 'managers,manager_usage')).toMatchObject({ code: 0 })
  const notes = ['new or still changing since the last reading: 1']
  expect(await audited('--streams', 'managers,manager_usage')).toMatchObject([{ notes }, { notes }])
  clock.passHours(24)
  const out = expect.stringMatching(/^manager_usage +account +whole list +– +– +0 +not compared$/m)
  expect(await text('--streams', 'manager_usage')).toMatchObject({ code: 0, out })
})

function earliest<Row>(rows: readonly Row[], timeOf: (row: Row) => number): Row {
  return rows.reduce((first, row) => (timeOf(row) < timeOf(first) ? row : first))
}
