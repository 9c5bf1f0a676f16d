import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { DAY, MINUTE, wallTimeAt } from '../../src/core/wall-clock.ts'
import type { ListQuery } from '../../src/emulator/params.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount } from '../helpers/start-account.ts'

const wanted = ['--streams', 'questionnaires,gifts,signups']

/** The service reads the bounds of a range in another zone than that in which it shows times, or by an earlier time. */
test.each([
  ['an hour ahead', 60 * MINUTE],
  ['a quarter of an hour ahead', 15 * MINUTE],
  ['a quarter of an hour behind', -15 * MINUTE],
])('of a service that filters by a clock %s, nothing is taken for removed that is there', async (_, seconds) => {
  await using account = await startAccount({ channels: 1, viewers: 5 })
  const { emulator, clock } = account
  const [channel] = emulator.world.channels.values()
  const [form] = channel?.questionnaires.rows ?? []
  const [gift, signup] = [channel?.gifts.rows[0], form?.signups.rows[0]]
  if (!channel || !form || !gift || !signup) throw new Error('the world is empty')
  const timeOf = (n: number) => wallTimeAt(clock.nowMs, 'Asia/Shanghai') - (n + 3) * 20 * MINUTE
  const numbers = Array.from({ length: 300 }, (_each, n) => n)
  channel.gifts.add(...numbers.map((n) => ({ ...gift, giftId: 900_000 + n, givenAt: timeOf(n) })))
  const signups = createRowList(numbers.map((n) => ({ ...signup, userId: `s${n}`, signedUpAt: timeOf(n) })))
  channel.questionnaires.replace(form, { ...form, signups })
  const apart = (query: ListQuery) =>
    query.from === undefined || query.to === undefined
      ? query
      : { ...query, from: query.from + seconds, to: query.to + seconds }
  emulator.faults.push({ effect: { name: 'another clock', query: apart } })
  for (let night = 0; night < 5; night++) {
    expect(await account.run(sync, wanted)).toMatchObject({ code: 0 })
    await expectTruth(account, ['gifts', 'signups'])
    expect(await readStreamTable(account.database.db, 'signups', { isRemoved: true })).toEqual([])
    clock.nowMs += DAY * 1000
  }
})
