import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { accept } from '../../src/cli/accept.ts'
import { audit } from '../../src/cli/audit.ts'
import { ledger } from '../../src/cli/ledger.ts'
import { changedRows, falseTotal, withheldRows } from '../helpers/fault-effects.ts'
import { first, firstRows } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { startAccount } from '../helpers/start-account.ts'

const account = ofTest(startAccount)

test('a row that the source announces but never delivers is a difference unless an operator accepts it', async () => {
  const { emulator, run } = account
  const [channelId = ''] = emulator.channelIds
  const ghost = earliestRecord()
  const effect = withheldRows((item) => Object(item).record_id === Number(ghost))
  emulator.faults.push({ effect, endpoint: 'userRecordList', channelId })
  expect(await account.sync('watch_records')).toMatchObject({ code: 3 })
  await run(accept, ['--stream', 'watch_records', '--channel', channelId, '--reason', 'a ghost', '--days', '1'])
  const report = (await run(audit, ['--streams', 'watch_records'])).printed.join('\n')
  expect(report).toMatch(/~ accepted: watch_records .* the source says that it has 1 row more than it delivers from /)
  const slices = { accepted: 1, verified: 1, short: 0 }
  const accepted = await account.runJson(audit, ['--streams', 'watch_records'])
  expect(accepted).toMatchObject({ code: 0, streams: { watch_records: { slices } } })

  // The acceptance has expired, and the source still announces one row more.
  account.clock.passHours(25)
  const expired = await run(audit, ['--streams', 'watch_records'])
  expect(expired.printed.join('\n')).toMatch(new RegExp(`^watch_records +channel=${channelId} .*different$`, 'm'))
})

test('an acceptance of one row still covers only one after several nights', async () => {
  const { emulator, run, clock } = account
  const { channel } = firstRows(emulator)
  const [one, other] = channel.records.rows.slice(-9).map(({ recordId }) => Number(recordId))
  const ghosts = new Set([one])
  const effect = withheldRows((item) => ghosts.has(Object(item).record_id))
  emulator.faults.push({ effect, endpoint: 'userRecordList', channelId: channel.id })
  await account.sync('watch_records')
  await run(accept, ['--stream', 'watch_records', '--channel', channel.id, '--reason', 'a ghost'])
  for (let night = 0; night < 3; night++) {
    clock.passHours(24)
    expect(await account.sync('watch_records')).toMatchObject({ code: 0 })
  }
  ghosts.add(other)
  expect(await run(audit, ['--streams', 'watch_records'])).toMatchObject({ code: 3 })
})

test('a quarantined item counts only in its own range', async () => {
  const { emulator, run, database } = account
  const broken = Number(earliestRecord())
  const effect = changedRows((item) => (Object(item).record_id === broken ? { ...Object(item), record_id: 'x' } : item))
  emulator.faults.push({ effect, endpoint: 'userRecordList', channelId: firstRows(emulator).channel.id })
  await account.sync('watch_records')
  const { code, printed } = await run(audit, ['--streams', 'watch_records'])
  expect(printed.join('\n')).toMatch(/^watch_records .* 1 +equal$/m)
  expect(code).toBe(0)
  const later = ['--streams', 'watch_records', '--channels', emulator.channelIds[0] ?? '', '--from', '2026-11-20T13:00']
  const [{ source_rows: atSource, ...partition }] = (await account.runJson(audit, later)).audit.partitions
  expect(partition).toMatchObject({ verdict: 'equal', warehouse_rows: atSource, quarantined_rows: 0 })
  await sql`delete from livehouse_ops.quarantine`.execute(database.db)
  const message = /1 row of the source is missing from the warehouse \(record_id unreadable item \w+\)/
  const missing = { code: 3, printed: expect.arrayContaining([expect.stringMatching(message)]) }
  expect(await run(audit, ['--streams', 'watch_records'])).toMatchObject(missing)
})

function earliestRecord(): string {
  const { rows } = firstRows(account.emulator).channel.records
  return rows.reduce((least, row) => (row.enteredAt < least.enteredAt ? row : least)).recordId
}

test('signups that a sync did not write are a difference until a later sync writes them', async () => {
  const lists = ['--streams', 'questionnaires,signups']
  account.emulator.faults.push({ effect: falseTotal(-1), endpoint: 'signupRecord' })
  expect(await account.sync(lists)).toMatchObject({ code: 3 })
  account.emulator.faults.splice(0)
  const printed = expect.arrayContaining([expect.stringMatching(/the source has \d+ rows more than the warehouse/)])
  expect(await account.run(audit, lists)).toMatchObject({ code: 3, printed })
  expect(await account.sync(lists)).toMatchObject({ code: 0 })
  expect(await account.run(audit, lists)).toMatchObject({ code: 0 })
})

test('a past range that no sync has read differs where the source has rows, and is equal once read', async () => {
  const verdicts = async (...argv: string[]) => {
    const { code, audit: report } = await account.runJson(audit, ['--streams', 'watch_records,gifts', ...argv])
    const partitions: readonly { stream: string; verdict: string }[] = report.partitions
    const verdictsOf = (name: string) => partitions.flatMap(({ stream, verdict }) => (stream === name ? [verdict] : []))
    return { code, records: [...new Set(verdictsOf('watch_records'))], gifts: [...new Set(verdictsOf('gifts'))] }
  }
  const past = ['--from', '2026-10-01', '--to', '2026-11-10']
  const different = { code: 3, records: ['different'], gifts: expect.arrayContaining(['different']) }
  const equal = { code: 0, records: ['equal'], gifts: ['equal'] }
  expect(await verdicts(...past)).toEqual(different)
  expect(await verdicts()).toEqual(different)
  await account.sync([], { LIVEHOUSE_HISTORY_FROM: '2026-11-05' })
  expect(await verdicts()).toEqual(equal)
  expect(await verdicts(...past)).toEqual(different)
  expect(await verdicts('--from', '2025-01-01', '--to', '2025-02-01')).toEqual(equal)
  await account.sync()
  expect(await verdicts(...past)).toEqual(equal)
  // Rows that came after the last sync are no difference.
  account.clock.passHours(26)
  expect(await verdicts('--from', '2026-11-01')).toMatchObject({ code: 0 })
})

test.each([
  [150, 0, 'unverifiable'],
  [50, 300, 'different'],
])('an audit reads page 1 of uncovered gifts: %i, and %i added later, are %s', async (known, added, verdict) => {
  const { channel, gift } = firstRows(account.emulator)
  for (const row of channel.gifts.rows.slice()) channel.gifts.remove(row)
  const givenAt = Math.floor(account.clock.nowMs / 1000) - 82 * 3600
  const give = (from: number, count: number) => {
    const ids = Array.from({ length: count }, (_, index) => from + index)
    channel.gifts.add(...ids.map((giftId) => ({ ...gift, type: 'cash' as const, giftId, givenAt })))
  }
  give(1, known)
  expect(await account.sync('gifts')).toMatchObject({ code: 0 })
  const range = ['--streams', 'gifts', '--from', '2026-11-10', '--to', '2026-11-20']
  expect(await account.run(ledger, ['forget', ...range])).toMatchObject({ code: 0 })
  give(1000, added)
  const [cash] = (await account.runJson(audit, range)).audit.partitions
  const note = expect.stringContaining('the service gives no total, but has at least 100 rows')
  expect(cash).toMatchObject({ verdict, notes: [note] })
})

test('an audit finds a lost manager without usage, beside a new one and one that the source deleted', async () => {
  const { managers } = account.emulator.world
  const [one, another] = [first(managers.rows), first(managers.rows.slice(1))]
  const auditManagers = async () => {
    const { code, audit: report } = await account.runJson(audit, ['--streams', 'managers'])
    return { code, differences: report.partitions[0].differences }
  }
  await account.sync('managers')
  managers.remove(one)
  await account.sync('managers')
  expect(await auditManagers()).toEqual({ code: 0, differences: [] })
  await sql`delete from livehouse.managers where manager_id = ${another.id}`.execute(account.database.db)
  const missing = (rows: number) => ({ code: 3, differences: [expect.objectContaining({ kind: 'missing', rows })] })
  expect(await auditManagers()).toEqual(missing(1))
  managers.add({ ...another, id: '99001' })
  expect(await auditManagers()).toEqual(missing(2))
  await account.sync('managers')
  managers.add({ ...another, id: '99002' })
  expect(await auditManagers()).toEqual({ code: 0, differences: [] })
})
