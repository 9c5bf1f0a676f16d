import { beforeEach, expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { wallTimeAt } from '../../src/core/wall-clock.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { defaultSwitches } from '../../src/emulator/switches.ts'
import { emptyTables } from '../helpers/empty-tables.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { status, withheldRows } from '../helpers/fault-effects.ts'
import { ofFile } from '../helpers/of-file.ts'
import { startAccount } from '../helpers/start-account.ts'

const account = ofFile(() => startAccount({ channels: 1, viewers: 5 }))

beforeEach(async () => {
  const { emulator, database } = account
  emulator.faults.length = 0
  Object.assign(emulator.switches, defaultSwitches)
  await emptyTables(database.db)
})

/** The channel has so many gifts, one in so many seconds, the newest an hour old. */
function giveGifts(count: number, every: number): void {
  const { emulator, clock } = account
  const [channel] = emulator.world.channels.values()
  const [gift] = channel?.gifts.rows ?? []
  if (!channel || !gift) throw new Error('the world is empty')
  for (const row of channel.gifts.rows.slice()) channel.gifts.remove(row)
  const newest = wallTimeAt(clock.nowMs, 'Asia/Shanghai') - 3600
  const gifts = Array.from({ length: count }, (_, n) => ({ ...gift, giftId: n + 1, givenAt: newest - n * every }))
  channel.gifts.add(...gifts)
}

async function syncGifts(hoursLater = 0) {
  account.clock.nowMs += hoursLater * 3_600_000
  const { code, printed } = await account.run(sync, ['--streams', 'gifts', '--json'])
  const { streams, errors } = JSON.parse(printed.join('\n'))
  const { inserted, updated, removed, slices } = streams.gifts
  return { code, inserted, updated, removed, slices, errors }
}

const nothingNew = { code: 0, inserted: 0, updated: 0, removed: 0, errors: [] }

test.each(['time-desc', 'time-asc'] as const)(
  'a page of which every row is hidden is no end of the others, %s',
  async (rowOrder) => {
    account.emulator.switches.rowOrder = rowOrder
    giveGifts(930, 600)
    const hidden = withheldRows((item) => Object(item).gift_id > 300 && Object(item).gift_id <= 430)
    account.emulator.faults.push({ effect: hidden, endpoint: 'giftRunning' })
    expect(await syncGifts()).toMatchObject({ code: 0, inserted: 800 })
    expect(await syncGifts(2)).toMatchObject(nothingNew)
  },
)

/** Any other size of pages is refused. */
const takeSizes = (...sizes: readonly number[]): FaultEffect => {
  let isTaken = true
  const { name, answer } = status(400)
  return {
    name,
    query: (query) => {
      isTaken = sizes.includes(query.pageSize)
      return query
    },
    answer: (given) => (isTaken ? given : (answer?.(given) ?? given)),
  }
}

test.each([1, 7, 10, 20, 40, 100, 200, 235, 250])(
  'a service that takes no sizes but those of the interface, and refuses what lies behind the end: %i gifts are read and agreed',
  async (count) => {
    account.emulator.switches.beyondLastPage = 'error'
    giveGifts(count, 2000)
    account.emulator.faults.push({ effect: takeSizes(10, 20, 50, 100), endpoint: 'giftRunning' })
    expect(await syncGifts()).toMatchObject({ code: 0, inserted: count, errors: [] })
    await expectTruth(account, ['gifts'])
    expect(await syncGifts(2)).toMatchObject(nothingNew)
    const { code, slices, errors } = await syncGifts(30)
    expect([code, errors]).toEqual([0, []])
    expect(slices.agreed).toBeGreaterThan(0)
  },
)

test('a list that does not fill its first page is asked for one page more', async () => {
  giveGifts(50, 600)
  await syncGifts()
  await syncGifts(2)
  const { emulator } = account
  const before = emulator.calls.length
  expect(await syncGifts(24)).toMatchObject(nothingNew)
  const pages = emulator.calls.slice(before).flatMap(({ page, params }) => (params.type === 'prop' ? [page] : []))
  expect(pages).toEqual([1, 2])
})
