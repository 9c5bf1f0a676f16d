import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { DAY, MINUTE, wallTimeAt } from '../../src/core/wall-clock.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { firstRows } from '../helpers/first-rows.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { runJson } from '../helpers/run-json.ts'
import { startAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/furnish.ts'

const wanted = ['--streams', 'questionnaires,gifts,signups']

/** The service reads the bounds of a range in another zone than that in which it shows times, or by an earlier time. */
const apartBy = (seconds: number): FaultEffect => ({
  name: 'another clock',
  query: (query) => {
    const { from, to } = query
    return from === undefined || to === undefined ? query : { ...query, from: from + seconds, to: to + seconds }
  },
})

test.each([
  ['an hour ahead', 60 * MINUTE],
  ['a quarter of an hour ahead', 15 * MINUTE],
  ['a quarter of an hour behind', -15 * MINUTE],
])('of a service that filters by a clock %s, nothing is taken for removed that is there', async (_, seconds) => {
  await using account = await startAccount({ channels: 1, viewers: 5 })
  const { emulator, clock } = account
  const { channel, gift, form, signup } = firstRows(emulator)
  const timeOf = (n: number) => wallTimeAt(clock.nowMs, 'Asia/Shanghai') - (n + 3) * 20 * MINUTE
  const numbers = Array.from({ length: 300 }, (_each, n) => n)
  channel.gifts.add(...numbers.map((n) => ({ ...gift, giftId: 900_000 + n, givenAt: timeOf(n) })))
  const signups = createRowList(numbers.map((n) => ({ ...signup, userId: `s${n}`, signedUpAt: timeOf(n) })))
  channel.questionnaires.replace(form, { ...form, signups })
  emulator.faults.push({ effect: apartBy(seconds) })
  for (let night = 0; night < 5; night++) {
    expect(await account.run(sync, wanted)).toMatchObject({ code: 0 })
    await expectTruth(account, ['gifts', 'signups'])
    expect(await readStreamTable(account.database.db, 'signups', { isRemoved: true })).toEqual([])
    clock.nowMs += DAY * 1000
  }
})

test('a list that is too long to be read at once is not cut by a filter that goes by another clock', async () => {
  await using account = await startAccount({ channels: 1, viewers: 5 })
  const { emulator, clock, database } = account
  const { channel, gift } = firstRows(emulator)
  const timeOf = (n: number) => wallTimeAt(clock.nowMs, 'Asia/Shanghai') - (n + 3) * 20 * MINUTE
  channel.gifts.add(
    ...Array.from({ length: 300 }, (_each, n) => ({ ...gift, giftId: 900_000 + n, givenAt: timeOf(n) })),
  )
  emulator.faults.push({ effect: clampedTo(2) }, { effect: apartBy(60 * MINUTE) })
  const { code, errors } = await runJson(account, sync, ['--streams', 'gifts'])
  expect([code, errors[0].code]).toEqual([3, 'paging.ignored'])
  expect(errors[0].message).toContain('filters by another time than it shows')
  expect(await readStreamTable(database.db, 'gifts')).toEqual([])

  emulator.faults.splice(1)
  expect(await account.run(sync, ['--streams', 'gifts'])).toMatchObject({ code: 0 })
  await expectTruth(account, ['gifts'])
})

test('where no longer range is served, a withdrawn gift is marked all the same', async () => {
  await using account = await startAccount({ channels: 1, viewers: 5 })
  const { emulator, clock, database } = account
  emulator.switches.longestWindowDays = 1.5
  const { channel, gift } = firstRows(emulator)
  const givenAt = (n: number) => wallTimeAt(clock.nowMs, 'Asia/Shanghai') - (n + 3) * 20 * MINUTE
  const gifts = Array.from({ length: 60 }, (_each, n) => ({ ...gift, giftId: 900_000 + n, givenAt: givenAt(n) }))
  channel.gifts.add(...gifts)
  const flags = ['--streams', 'gifts']
  expect(await account.run(sync, flags, { LIVEHOUSE_HISTORY_FROM: '2026-11-15' })).toMatchObject({ code: 0 })
  const [withdrawn] = gifts.slice(4)
  if (withdrawn) channel.gifts.remove(withdrawn)
  for (let night = 0; night < 3; night++) {
    clock.nowMs += DAY * 500
    expect(await account.run(sync, flags, { LIVEHOUSE_HISTORY_FROM: '2026-11-15' })).toMatchObject({ code: 0 })
  }
  expect(await readStreamTable(database.db, 'gifts', { isRemoved: true })).toHaveLength(1)
})
