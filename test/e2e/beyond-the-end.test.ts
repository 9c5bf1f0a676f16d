import { expect, test } from 'vitest'
import { accept } from '../../src/cli/accept.ts'
import { audit } from '../../src/cli/audit.ts'
import type { Answer } from '../../src/emulator/answer.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { startLists, syncStreams } from '../helpers/capped-lists.ts'
import { hang, ignoredPage, meanwhile, refusal, status, whereAsked, withheldRows } from '../helpers/fault-effects.ts'
import { addRows, firstRows, times } from '../helpers/first-rows.ts'
import { startAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/add-odd-rows.ts'

test('a list that grows with every call and repeats page 1 past its end is read in few calls', async () => {
  await using account = await startAccount({ channels: 1, viewers: 100 })
  account.emulator.switches.beyondLastPage = 'repeat-first'
  const { channel, visitor } = firstRows(account.emulator)
  let calls = 0
  const enter = meanwhile(() => {
    channel.visitors.add({ ...visitor, userId: `new-${++calls}`, lastOnlineAt: visitor.lastOnlineAt + 86_400 + calls })
  })
  // Fewer rows come than the total announces, so that pages past the end are requested.
  const hidden = withheldRows((item) => Object(item).user_id === visitor.userId)
  account.emulator.faults.push({ effect: { ...hidden, ...enter }, endpoint: 'visitorList' })
  expect(await account.sync('visitors')).toMatchObject({ code: 0 })
  expect(calls).toBeLessThan(40)
})

const deepest = 300
/** A page that ends deeper than `deepest` is answered like one past the end. */
const limitedDepth: FaultEffect = {
  name: 'limited depth',
  query: (query) => (query.page * query.pageSize > deepest ? { ...query, page: 1_000_000 } : query),
}

test.each([
  [20, 0, []],
  [460, 3, ['watch_records api.status', 'signups api.status']],
])('lists served to a limited depth are cut by time; %i rows a minute: exit %i', async (rows, exitCode, failures) => {
  await using account = await startLists(10_000, rows, 460)
  account.emulator.switches.beyondLastPage = 'error'
  account.emulator.faults.splice(0, 1, { effect: limitedDepth })
  const { code, errors } = await syncStreams(account, 'watch_records,questionnaires,signups')
  const kinds = errors.map((error: { stream: string; code: string }) => `${error.stream} ${error.code}`)
  expect([code, new Set(kinds)]).toEqual([exitCode, new Set(failures)])
  if (exitCode === 0) await account.expectTruth(['watch_records', 'signups'])
})

test.each([
  [1, '2026-11-10', 24, refusal(400_001)],
  [31, '2025-06-01', 40, refusal(400_001)],
  [31, '2026-01-01', 39, status(504)],
  [31, '2026-10-18', 10, hang()],
])('ranges of at most %i days from %s on are proven, and audited in %i calls', async (days, from, calls, effect) => {
  await using account = await startAccount({ channels: 1, days: 8 })
  account.emulator.faults.push({ effect: whereAsked(({ from = 0, to = 0 }) => to - from > days * 86_400, effect) })
  const settings = { LIVEHOUSE_HISTORY_FROM: from, LIVEHOUSE_REQUEST_TIMEOUT: effect.name === 'hang' ? '0.2' : '30' }
  expect(await account.sync('gifts,watch_records,signups', settings)).toMatchObject({ code: 0 })
  await account.expectTruth(['gifts', 'watch_records', 'signups'])
  const argv = ['--from', from, '--to', '2026-11-20', '--streams', 'watch_records']
  expect(await account.runJson(audit, argv, settings)).toMatchObject({ code: 0, streams: { watch_records: { calls } } })
})

test('a service that refuses every range is given up after few calls', async () => {
  await using account = await startAccount({ channels: 1 })
  account.emulator.switches.longestWindowDays = 0
  const { code, errors } = await account.sync('gifts,watch_records,signups')
  expect(code).toBe(3)
  const kinds = errors.map((error: { stream: string; code: string }) => `${error.stream} ${error.code}`)
  expect(new Set(kinds)).toEqual(new Set(['gifts', 'watch_records', 'signups'].map((stream) => `${stream} api.status`)))
  expect(account.emulator.calls.length).toBeLessThan(20)
  const { streams, errors: refusals } = await account.runJson(audit, ['--streams', 'watch_records'])
  expect(refusals).toMatchObject([{ stream: 'watch_records', code: 'api.status' }])
  expect(streams.watch_records.calls).toBe(2)
})

test.each([100, 250])('%i gifts and viewers of a service that fails past the last page all land', async (count) => {
  await using account = await startAccount({ channels: 1, viewers: count })
  const { channel, gift } = firstRows(account.emulator)
  for (const row of channel.gifts.rows.slice()) channel.gifts.remove(row)
  channel.gifts.add(...times(count, (n) => ({ ...gift, giftId: n, givenAt: gift.givenAt + n * 60 })))
  const answer = (given: Answer) => {
    const isPastEnd = given.body.kind === 'list' && given.body.items().length === 0
    return isPastEnd ? (status(500).answer?.(given) ?? given) : given
  }
  const effect = whereAsked(({ page }) => page > 1, { name: 'fails past the end', answer })
  account.emulator.faults.push({ effect })
  expect(await account.sync('gifts,visitors')).toMatchObject({ code: 0 })
  await account.expectTruth(['gifts', 'visitors'])
  expect(account.emulator.calls.length).toBeLessThan(60)
})

test('a visitor list cut at a round number makes the run partial until an operator accepts it', async () => {
  await using account = await startAccount({ channels: 1, viewers: 320 })
  const { emulator, clock, run } = account
  Object.assign(emulator.switches, { largestTotal: 200, hidesBehindTotal: true })
  const { code, errors } = await account.sync('visitors')
  expect([code, errors]).toMatchObject([3, [{ message: expect.stringContaining('in reverse order') }]])
  const [channelId = ''] = emulator.channelIds
  const accepted = ['--stream', 'visitors', '--channel', channelId, '--reason', 'no more are served']
  expect(await run(accept, accepted)).toMatchObject({ code: 0 })
  clock.passHours(2)
  expect(await account.sync('visitors')).toMatchObject({ code: 0 })
  Object.assign(emulator.switches, { largestTotal: 320, hidesBehindTotal: false })
  expect(await account.sync('visitors')).toMatchObject({ code: 0 })
  await account.expectTruth(['visitors'])
})

test.each([
  [1, 'query'],
  [7, 'body'],
] as const)('pages clamped to %i are read, parameters in the %s, even without a number', async (most, listParams) => {
  await using account = await startAccount({ channels: 1, viewers: 9 })
  account.emulator.switches.listParams = listParams
  addRows(account.emulator, 9, () => account.hoursAgo(1))
  const unnumbered: FaultEffect = { name: 'unnumbered', query: (asked) => ({ ...asked, echoPage: Number.NaN }) }
  account.emulator.faults.push({ effect: clampedTo(most) }, { effect: unnumbered, endpoint: 'signupRecord' })
  for (let night = 0; night < 2; night++) {
    expect(await account.sync()).toMatchObject({ code: 0, errors: [] })
    await account.expectTruth()
  }
})

test('an ignored page parameter is an error of both manager lists', async () => {
  await using account = await startAccount({ viewers: 1 })
  account.emulator.faults.push({ effect: ignoredPage(true) }, { effect: clampedTo(5) })
  const ignored = { code: 'paging.ignored' }
  expect(await account.sync('managers,manager_usage')).toMatchObject({ code: 3, errors: [ignored, ignored] })
})
