import { type RawBuilder, sql } from 'kysely'
import { expect, test } from 'vitest'
import { formatWallTime } from '../../src/core/wall-clock.ts'
import { ofTest } from '../helpers/of-file.ts'
import { startFilled } from '../helpers/start-filled.ts'

const HOUR = 3600

const account = ofTest(startFilled)

const deleteRecord = (channelId: string, recordId: RawBuilder<unknown>) =>
  sql`delete from livehouse.watch_records where (channel_id, record_id) = (${channelId}, ${recordId})`

test('an audit finds a row lost before the last sync; a row that came after it is no difference', async () => {
  const { channel, record, visitor, text, runAudit: audited, clock, change } = account
  const now = Math.floor(clock.nowMs / 1000) + 8 * HOUR
  // The visit was still going on at the last sync, an hour ago; the visitor came after it.
  channel.records.add({ ...record, recordId: '900000001', enteredAt: now - 3 * HOUR, leftAt: now - HOUR + 60 })
  channel.visitors.add({ ...visitor, userId: 'new', firstLoginAt: now - HOUR / 2, lastOnlineAt: now - HOUR / 2 })
  const quiet = await text('--streams', 'visitors,watch_records')
  expect(quiet).toMatchObject({ code: 0 })
  expect(quiet.out.match(/new or still changing since the last reading: 1/g)).toHaveLength(2)

  channel.records.add({ ...record, recordId: '900000002', enteredAt: now - 30 * HOUR, leftAt: now - 29 * HOUR })
  channel.visitors.add({ ...visitor, userId: 'old', firstLoginAt: now - 30 * HOUR, lastOnlineAt: now - HOUR / 2 })
  expect(await audited('--streams', 'visitors,watch_records')).toMatchObject([
    { stream: 'visitors', verdict: 'different', differences: [{ kind: 'missing', keys: ['old'] }] },
    { verdict: 'equal' },
    { stream: 'watch_records', verdict: 'different', differences: [{ kind: 'missing', keys: ['900000002'] }] },
    { verdict: 'equal' },
  ])
  // After a week the ledger has merged the readings of several nights: it dates them before the first record came.
  for (const hours of [24, 96, 192]) {
    clock.passHours(hours)
    expect(await account.sync('watch_records')).toMatchObject({ code: 0 })
  }
  await change(deleteRecord(channel.id, sql`900000001`))
  const [partition] = await audited('--streams', 'watch_records')
  expect(partition).toMatchObject({ verdict: 'different', differences: [{ kind: 'missing', keys: ['900000001'] }] })
})

test.each(['entry', 'leave'] as const)('an audit finds a lost row among ongoing visits: by %s', async (time) => {
  const { channel, record, text, runAudit: audited, emulator, clock, change } = account
  emulator.switches.recordFilterTime = time
  const now = Math.floor(clock.nowMs / 1000) + 8 * HOUR
  // The visit that ended last within the covered range, which ends an hour and five minutes ago.
  const ended = channel.records.rows.filter(({ leftAt }) => leftAt < now - HOUR - 300)
  const latest = ended.reduce((last, each) => (each.leftAt > last.leftAt ? each : last))
  channel.records.replace(latest, { ...latest, leftAt: now - 60 })
  expect(await text('--streams', 'watch_records')).toMatchObject({ code: 0, out: expect.not.stringContaining('✗') })
  channel.records.add({ ...record, recordId: '900000001', enteredAt: now - 72 * HOUR, leftAt: now - 60 })
  for (const minutes of [0, 30]) {
    await account.sync('watch_records')
    clock.nowMs += minutes * 60_000
    const report = await text('--streams', 'watch_records')
    expect(report.out.match(/equal$/gm)).toHaveLength(2)
    expect(report).toMatchObject({ code: 0, out: expect.not.stringContaining('counted to within') })
    const oldest = sql`(select min(record_id) from livehouse.watch_records where channel_id = ${channel.id})`
    await change(deleteRecord(channel.id, oldest))
    const [partition] = await audited('--streams', 'watch_records')
    expect(partition).toMatchObject({ verdict: 'different' })
  }
})

test('rows that an audit counts only approximately are not proven; a row lost elsewhere is named', async () => {
  const { channel, text, runAudit: audited, emulator, clock, change } = account
  emulator.switches.recordFilterTime = 'entry'
  const now = Math.floor(clock.nowMs / 1000) + 8 * HOUR
  const first = channel.records.rows.reduce((least, each) => (each.enteredAt < least.enteredAt ? each : least))
  channel.records.add({ ...first, recordId: '900000001', enteredAt: now - 72 * HOUR, leftAt: now - 60 })
  await account.sync('watch_records')
  // More rows than an audit reads; since that visit began, no minute has been without a viewer.
  const enteredAt = now - 71 * HOUR
  const numbers = Array.from({ length: 20_000 }, (_, index) => 910_000_000 + index)
  channel.records.add(...numbers.map((each) => ({ ...first, recordId: `${each}`, enteredAt, leftAt: enteredAt + 30 })))
  await sql`insert into livehouse.watch_records
    select another.* from livehouse.watch_records as known, unnest(${numbers}::bigint[]) as number,
      jsonb_populate_record(known, jsonb_build_object('record_id', number, 'entered_at',
        to_timestamp(${enteredAt - 8 * HOUR}), 'left_at', to_timestamp(${enteredAt - 8 * HOUR + 30}))) as another
    where known.record_id = 900000001`.execute(account.database.db)
  await sql`analyze livehouse.watch_records`.execute(account.database.db)
  const argv = ['--streams', 'watch_records', '--channels', channel.id, '--no-reopen']
  const { code, out } = await text(...argv)
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/not proven$/m) })
  expect(out).toMatch(/counted to within \d+ rows.* 20000 rows \(--from, --to\)/)
  const lastRun = account.database.db.selectFrom('livehouse_ops.runs').select('outcome').orderBy('run_id', 'desc')
  const slices = { verified: 0, unverifiable: 1 }
  expect(await lastRun.executeTakeFirst()).toMatchObject({ outcome: { streams: { watch_records: { slices } } } })

  for (const lost of [first.recordId, numbers[0]]) await change(deleteRecord(channel.id, sql`${lost}::bigint`))
  const differences = [{ kind: 'missing', rows: 1, keys: [first.recordId] }, { kind: 'count' }]
  expect(await audited(...argv)).toMatchObject([{ verdict: 'different', differences }])
})

test('a row at the very start of a range, which an exclusive filter omits, does not mask a lost row', async () => {
  const { channel, record, runAudit: audited, emulator, clock, change } = account
  Object.assign(emulator.switches, { recordFilterTime: 'entry', filterEnds: 'exclusive' })
  const from = Math.floor(clock.nowMs / 60_000) * 60 + (8 - 30) * HOUR
  channel.records.add({ ...record, recordId: '900000001', enteredAt: from, leftAt: from + 300 })
  channel.records.add({ ...record, recordId: '900000002', enteredAt: from + 120, leftAt: from + 360 })
  await account.sync('watch_records')
  await change(deleteRecord(channel.id, sql`900000002`))
  const argv = ['--streams', 'watch_records', '--channels', channel.id, '--from', formatWallTime(from).slice(0, 16)]
  expect(await audited(...argv)).toMatchObject([{ differences: [{ kind: 'missing', keys: ['900000002'] }] }])
})

test('hundreds of visits that ended after the last sync are no difference', async () => {
  const { channel, record, text, clock } = account
  const now = Math.floor(clock.nowMs / 1000) + 8 * HOUR
  // They began within one minute that the last sync covers, and ended after that sync.
  for (let number = 0; number < 800; number++) {
    const enteredAt = now - 2 * HOUR + (number % 60)
    channel.records.add({ ...record, recordId: `${900_000_000 + number}`, enteredAt, leftAt: now - HOUR + number })
  }
  const report = await text('--streams', 'watch_records')
  expect(report).toMatchObject({ code: 0, out: expect.not.stringContaining('✗') })
  expect(report.out).toMatch(/new or still changing since the last reading: \d+/)
})
