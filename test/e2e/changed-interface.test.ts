import { expect, test } from 'vitest'
import { accept } from '../../src/cli/accept.ts'
import { backfill } from '../../src/cli/backfill.ts'
import { changedRows, changingTotal, refusal, withoutEmptyFields } from '../helpers/fault-effects.ts'
import { firstRows } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount } from '../helpers/start-account.ts'

const account = ofTest(() => startAccount({ viewers: 260 }))

/** Where both names are equal, the values become unreadable instead, and the first item loses its user id. */
function rename(endpoint: string, from: string, to: string): void {
  const effect = changedRows((item, index) => {
    const { [from]: value, ...others } = Object(item)
    if (from !== to) return { ...others, [to]: value }
    return { ...others, [to]: { value }, ...(index === 0 && { user_id: null }) }
  })
  const [channelId = ''] = account.emulator.channelIds
  account.emulator.faults.push({ effect, endpoint, channelId })
}

test.each([
  ['visitors', 'visitorList', 'nick', 'nickname', 'renamed'],
  ['visitors', 'visitorList', 'watch_time', 'watch_seconds', 'watch_time'],
  ['watch_records', 'userRecordList', 'phone', 'phone', 'renamed'],
  ['gifts', 'giftRunning', 'phone', 'phone', 'renamed'],
] as const)('a field of %s that is renamed or unreadable overwrites nothing until accepted', async (...row) => {
  const [stream, endpoint, field, column, renamed] = row
  const { emulator, run, clock, database } = account
  const [channelId = ''] = emulator.channelIds
  const streams = ['--streams', stream]
  const { gifts } = firstRows(emulator).channel
  const moreGifts = gifts.rows.flatMap((gift) => [1, 2, 3].map((later) => ({ ...gift, givenAt: gift.givenAt + later })))
  gifts.add(...moreGifts)
  expect(await account.sync(streams)).toMatchObject({ code: 0 })
  await account.expectTruth([stream])
  const countKnown = async () => {
    const rows = await readStreamTable(database.db, stream)
    return rows.filter((row) => row.channel_id === channelId && row[column] !== null).length
  }
  const known = await countKnown()

  rename(endpoint, field, renamed)
  // Rows are written before a list that moves is read again, and before a range with a refused page is cut.
  if (stream === 'visitors') emulator.faults.push({ effect: changingTotal(), endpoint, times: 4 })
  if (stream === 'watch_records') emulator.faults.push({ effect: refusal(400001), endpoint, page: 2, times: 5 })
  const readAll = async () => {
    clock.passHours(1)
    if (stream === 'visitors') return await account.sync(streams)
    return await account.runJson(backfill, ['--from', '2026-10-01', '--to', '2026-11-20', ...streams])
  }
  const { code, errors } = await readAll()
  expect(code).toBe(3)
  const message = expect.stringContaining(`has ${field} in a readable form any more`)
  expect(errors[0]).toMatchObject({ code: 'interface.changed', message })
  expect(await countKnown()).toBe(known)
  await account.expectTruth([stream])

  const argv = ['--stream', stream, '--channel', channelId, '--reason', 'it is called renamed now']
  const printed = [expect.stringContaining(`goes on without ${field}`)]
  expect(await run(accept, argv)).toMatchObject({ code: 0, printed })
  expect(await readAll()).toMatchObject({ code: 0 })
  expect(await countKnown()).toBeLessThan(known)

  emulator.faults.length = 0
  expect(await readAll()).toMatchObject({ code: 0 })
  expect(await countKnown()).toBe(known)
  rename(endpoint, field, renamed)
  expect(await readAll()).toMatchObject({ code: 3 })
})

test('a renamed field overwrites nothing in a list of several batches', async () => {
  const { channel, visitor } = firstRows(account.emulator)
  const known = { ...visitor, nick: 'known', wxOpenid: '', lastOnlineAt: account.hoursAgo(0) }
  channel.visitors.add(...Array.from({ length: 4300 }, (_, number) => ({ ...known, userId: `more${number}` })))
  const streams = ['--streams', 'visitors']
  expect(await account.sync(streams)).toMatchObject({ code: 0 })
  rename('visitorList', 'nick', 'renamed')
  account.clock.passHours(1)
  expect(await account.sync(streams)).toMatchObject({ code: 3 })
  const rows = await readStreamTable(account.database.db, 'visitors')
  expect(rows.filter(({ nickname }) => nickname === 'known')).toHaveLength(4300)

  // A field that is readable in later rows, if not in the first ones, has not changed, nor is it gone.
  let unreadable = 2500
  const effect = changedRows((item) => (unreadable-- > 0 ? { ...Object(item), watch_time: '--' } : item))
  const place = { endpoint: 'visitorList', channelId: channel.id }
  account.emulator.faults.splice(0, 1, { effect, ...place }, { effect: withoutEmptyFields(), ...place })
  expect(await account.sync(streams)).toMatchObject({ code: 0, errors: [] })
})

test('all new rows may lack a field that the service omits when it is empty', async () => {
  const { channel, record } = firstRows(account.emulator)
  account.emulator.faults.push({ effect: withoutEmptyFields(), endpoint: 'userRecordList' })
  for (let week = 0; week < 3; week++) {
    const enteredAt = account.hoursAgo(1)
    const withoutPhone = { ...record, phone: '', enteredAt, leftAt: enteredAt + 60 }
    if (week === 2) for (let n = 0; n < 30; n++) channel.records.add({ ...withoutPhone, recordId: String(900_000 + n) })
    expect(await account.sync('watch_records')).toMatchObject({ code: 0 })
    account.clock.passHours(7 * 24)
  }
  await account.expectTruth(['watch_records'])
})

test('an identifying field that all new gifts or visits lack is a changed interface', async () => {
  const { channel, record, gift } = firstRows(account.emulator)
  const streams = ['--streams', 'watch_records,gifts']
  expect(await account.sync(streams)).toMatchObject({ code: 0 })
  account.clock.passHours(7 * 24)
  const at = account.hoursAgo(1)
  for (let n = 0; n < 30; n++) {
    channel.records.add({ ...record, recordId: String(900_000 + n), enteredAt: at + n, leftAt: at + 60 + n })
    channel.gifts.add({ ...gift, givenAt: at + n })
  }
  rename('userRecordList', 'user_id', 'viewer')
  rename('giftRunning', 'money', 'amount')
  const { errors } = await account.sync(streams)
  for (const stream of ['watch_records', 'gifts'])
    expect(errors).toContainEqual(expect.objectContaining({ stream, code: 'interface.changed' }))
  account.emulator.faults.length = 0
  expect(await account.sync(streams)).toMatchObject({ code: 0 })
  await account.expectTruth(['watch_records', 'gifts'])
})

test('a field that only some items have, or that a handful of items lacks, has not changed', async () => {
  expect(await account.sync()).toMatchObject({ code: 0 })
  const ids = new Set([...account.emulator.world.channels.values()].map(({ visitors }) => visitors.rows[150]?.userId))
  const some = changedRows((item) => (ids.has(Object(item).user_id) ? item : { ...Object(item), nick: undefined }))
  account.emulator.faults.push({ effect: some, endpoint: 'visitorList' })
  const few = changedRows((item) => ({ ...Object(item), name: undefined }))
  account.emulator.faults.push({ effect: few, endpoint: 'getQuestionList' })
  account.clock.passHours(1)
  expect(await account.sync('visitors,questionnaires')).toMatchObject({ code: 0 })
})

test('a handful of gifts without an identifying field is not written as other gifts', async () => {
  const { gifts } = firstRows(account.emulator).channel
  for (const gift of gifts.rows.slice(6)) gifts.remove(gift)
  expect(await account.sync('gifts')).toMatchObject({ code: 0 })
  rename('giftRunning', 'money', 'amount')
  account.clock.passHours(1)
  expect(await account.sync('gifts')).toMatchObject({ code: 3 })
  await account.expectTruth(['gifts'])
})
