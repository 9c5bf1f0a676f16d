import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MINUTE, type WallTime } from '../../src/core/wall-clock.ts'
import type { Fault, FaultEffect } from '../../src/emulator/faults.ts'
import { defaultSwitches } from '../../src/emulator/switches.ts'
import type { Channel, Gift } from '../../src/emulator/world/world.ts'
import { emptyTables } from '../helpers/empty-tables.ts'
import { ignoredPage, meanwhile, noRows, status, whereAsked, withheldRows } from '../helpers/fault-effects.ts'
import { first, firstChannel, times } from '../helpers/first-rows.ts'
import { ofFile } from '../helpers/of-file.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/add-odd-rows.ts'

const account = ofFile(() => startAccount({ channels: 1, viewers: 5 }))
let channel: Channel
let example: Gift
let now: WallTime

beforeAll(() => {
  channel = firstChannel(account.emulator)
  example = { ...first(channel.gifts.rows), type: 'cash' }
})

beforeEach(async () => {
  for (const row of channel.gifts.rows.slice()) channel.gifts.remove(row)
  account.emulator.faults.length = 0
  Object.assign(account.emulator.switches, defaultSwitches)
  await emptyTables(account.database.db)
  now = account.hoursAgo(0)
})

/** Adds different gifts, one every `every` seconds, the newest `ago` seconds before now. */
function addGifts(count: number, { every = 600, ago = 3600 } = {}): void {
  channel.gifts.add(...times(count, (n) => ({ ...example, giftId: n + 1, givenAt: now - ago - n * every })))
}

function addEqualGifts(count: number, ago: number): void {
  channel.gifts.add(...times(count, () => ({ ...example, money: '0.00', givenAt: now - ago })))
}

function breakGifts(effect: FaultEffect, fault: Partial<Fault> = {}): void {
  account.emulator.faults.push({ endpoint: 'giftRunning', effect, ...fault })
}

async function syncGifts(hoursLater = 0) {
  account.clock.passHours(hoursLater)
  const { code, streams, errors } = await account.sync('gifts')
  return { code, errors, ...streams.gifts }
}

const countRows = async () => (await readStreamTable(account.database.db, 'gifts')).length

const nothingNew = { code: 0, inserted: 0, updated: 0, removed: 0, errors: [] }

async function expectWhole(rows: number): Promise<void> {
  expect(await syncGifts()).toMatchObject({ code: 0, inserted: rows, errors: [] })
  await account.expectTruth(['gifts'])
  expect(await syncGifts(2)).toMatchObject(nothingNew)
}

async function expectRecovered(): Promise<void> {
  account.emulator.faults.length = 0
  expect(await syncGifts()).toMatchObject({ code: 0 })
  await account.expectTruth(['gifts'])
}

test('a page refused once is not the end: the rows past it land in the same run', async () => {
  addGifts(1000)
  breakGifts(status(404), { page: 3, times: 1 })
  await expectWhole(1000)
})

test('a minute with more gifts than the service serves is an error that names the refused page', async () => {
  addGifts(150, { every: 0, ago: 7200 })
  addGifts(130)
  for (const page of [2, 3]) breakGifts(status(404), { page })
  const result = await syncGifts()
  expect(result).toMatchObject({ code: 3 })
  expect(result.errors[0]).toMatchObject({ code: 'api.status', message: expect.stringContaining('page 2: 404') })
  await expectRecovered()
})

const beyond = ['empty', 'repeat-first', 'repeat-last', 'error'] as const
test.each(beyond)('equal gifts that fill all pages are read to their end; past it: %s', async (beyondLastPage) => {
  Object.assign(account.emulator.switches, { beyondLastPage })
  addEqualGifts(300, 3600)
  await expectWhole(300)
})

describe('a service that serves few rows a page, whatever page size is requested', () => {
  const serveAtMost = (most: number) => breakGifts(clampedTo(most))

  test.each([5, 12])('%i equal gifts that fill pages of four are read to their end', async (count) => {
    addGifts(4, { ago: 20_000 })
    addEqualGifts(count, 3600)
    serveAtMost(4)
    await expectWhole(4 + count)
  })

  test('its refusal of far pages does not end the list, at any page size', async () => {
    addGifts(30, { every: 40_000 })
    serveAtMost(3)
    for (let page = 4; page < 40; page++) breakGifts(status(400), { page })
    await expectWhole(30)
    expect(await syncGifts(2)).toMatchObject(nothingNew)
  })

  test('rows that it hides do not end the list, in any reading', async () => {
    addGifts(14, { every: 40_000 })
    breakGifts(withheldRows((item) => Object(item).gift_id > 4 && Object(item).gift_id < 10))
    serveAtMost(8)
    expect(await syncGifts()).toMatchObject({ code: 0, inserted: 9 })
    for (let reading = 0; reading < 4; reading++) expect(await syncGifts(2)).toMatchObject(nothingNew)
  })
})

test.each(['time-desc', 'time-asc'] as const)('a page of hidden rows does not end the list, %s', async (rowOrder) => {
  account.emulator.switches.rowOrder = rowOrder
  addGifts(930)
  breakGifts(withheldRows((item) => Object(item).gift_id > 300 && Object(item).gift_id <= 430))
  expect(await syncGifts()).toMatchObject({ code: 0, inserted: 800 })
  expect(await syncGifts(2)).toMatchObject(nothingNew)
})

test.each(
  [1, 20, 100, 200, 235].flatMap((count) => [
    [count, 'error' as const],
    [count, 'repeat-last' as const],
  ]),
)('with a few fixed page sizes, %i gifts are read and agreed; past them: %s', async (count, beyondLastPage) => {
  Object.assign(account.emulator.switches, { beyondLastPage })
  addGifts(count, { every: 2000 })
  breakGifts(whereAsked(({ pageSize }) => ![10, 20, 50, 100].includes(pageSize), status(400)))
  await expectWhole(count)
  const { code, slices, errors } = await syncGifts(30)
  expect([code, errors]).toEqual([0, []])
  expect(slices.agreed).toBeGreaterThan(0)
})

test('with a few fixed page sizes, a refusal does not end a list of whose first page rows are hidden', async () => {
  addGifts(235, { every: 2000 })
  breakGifts(whereAsked(({ pageSize }) => ![10, 20, 50, 100].includes(pageSize), status(400)))
  breakGifts(withheldRows((item) => Object(item).gift_id > 2 && Object(item).gift_id < 8))
  breakGifts(status(404), { page: 2, times: 3 })
  expect(await syncGifts()).toMatchObject({ code: 3, inserted: 0, errors: [{ code: 'api.status' }] })
})

test.each([250, 150])(
  'a page that comes empty by mistake in each of two readings hides none of %i gifts',
  async (count) => {
    addGifts(1)
    for (const hours of [0, 2]) await syncGifts(hours)
    addGifts(count, { every: 30, ago: 300 })
    for (const hours of [1, 24]) {
      breakGifts(noRows(), { page: 2, times: 1 })
      expect(await syncGifts(hours)).toMatchObject({ code: 0, errors: [] })
      await account.expectTruth(['gifts'])
    }
  },
)

test.each([30, 930])('an ignored page parameter is an error, not %i equal gifts', async (count) => {
  addEqualGifts(count, 3600)
  breakGifts(ignoredPage())
  expect(await syncGifts()).toMatchObject({ code: 3, errors: [{ code: 'paging.ignored' }] })
  expect(await countRows()).toBe(0)
})

test('with a new gift at every call, older gifts land at once, and the newest when the list rests', async () => {
  addGifts(930)
  let giftCount = 0
  const give = () => {
    account.clock.nowMs += 200
    channel.gifts.add({ ...example, giftId: 5000 + giftCount++, givenAt: account.hoursAgo(0) })
  }
  for (let call = 0; call < 1500; call++) give()
  now = account.hoursAgo(0)
  breakGifts(meanwhile(give))
  for (let night = 0; night < 3; night++) {
    expect(await syncGifts()).toMatchObject({ code: 0, slices: { moving: 0, short: 0, failed: 0 }, errors: [] })
    const old = channel.gifts.rows.filter(({ givenAt }) => givenAt < now - 600)
    expect(await countRows()).toBeGreaterThanOrEqual(old.length)
  }
  account.emulator.faults.length = 0
  // A sync does not ask for the last two seconds.
  expect(await syncGifts(0.001)).toMatchObject({ code: 0 })
  await account.expectTruth(['gifts'])
})

test('a minute that never rests is reported and not written; its neighbours land', async () => {
  addGifts(300, { every: 60 })
  const minute = Math.floor((now - 9000) / MINUTE) * MINUTE
  let crowd = 0
  const arrive = () => channel.gifts.add({ ...example, giftId: 5000 + crowd++, givenAt: minute + 59 })
  for (let gift = 0; gift < 250; gift++) arrive()
  breakGifts(meanwhile(arrive))
  const errors = [{ code: 'slice.short', message: expect.stringContaining('did not come to rest however often') }]
  expect(await syncGifts()).toMatchObject({ code: 3, removed: 0, slices: { short: 1, failed: 0 }, errors })
  const outside = channel.gifts.rows.filter(({ givenAt }) => givenAt < minute || givenAt >= minute + MINUTE)
  expect(await countRows()).toBe(outside.length)
  await expectRecovered()
})
