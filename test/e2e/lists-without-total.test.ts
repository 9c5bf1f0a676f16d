import { beforeEach, describe, expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { MINUTE, type WallTime, wallTimeAt } from '../../src/core/wall-clock.ts'
import { ignoredPage, status, withheldRows } from '../helpers/fault-effects.ts'
import type { Fault, FaultEffect } from '../../src/emulator/faults.ts'
import { defaultSwitches, type Switches } from '../../src/emulator/switches.ts'
import type { Channel, Gift } from '../../src/emulator/world/world.ts'
import { emptyTables } from '../helpers/empty-tables.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { meanwhile } from '../helpers/numbered-lists.ts'
import { ofFile } from '../helpers/of-file.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount } from '../helpers/start-account.ts'

const account = ofFile(() => startAccount({ viewers: 5 }))
let channel: Channel
let example: Gift
/** The service's wall clock at the start of a test. */
let now: WallTime

beforeEach(async () => {
  const { emulator, clock, database } = account
  const [first, ...others] = emulator.world.channels.values()
  const [gift] = first?.gifts.rows ?? []
  if (first === undefined || gift === undefined) throw new Error('the world is empty')
  channel = first
  example = { ...gift, type: 'cash' }
  for (const { gifts } of [first, ...others]) for (const row of gifts.rows.slice()) gifts.remove(row)
  emulator.faults.length = 0
  Object.assign(emulator.switches, defaultSwitches)
  await emptyTables(database.db)
  now = wallTimeAt(clock.nowMs, 'Asia/Shanghai')
})

/** Different gifts, one in so many seconds, the newest `ago` seconds before now. */
function addGifts(count: number, { every = 600, ago = 3600 } = {}): void {
  const gifts = Array.from({ length: count }, (_, place) => ({
    ...example,
    giftId: place + 1,
    givenAt: now - ago - place * every,
  }))
  channel.gifts.add(...gifts)
}

function addEqualGifts(count: number, ago: number): void {
  channel.gifts.add(...Array.from({ length: count }, () => ({ ...example, money: '0.00', givenAt: now - ago })))
}

function breakGifts(effect: FaultEffect, fault: Partial<Fault> = {}): void {
  account.emulator.faults.push({ endpoint: 'giftRunning', effect, ...fault })
}

/** Of the run: its exit code, what it wrote, how its slices ended and what it names. */
async function syncGifts(hoursLater = 0) {
  account.clock.nowMs += hoursLater * 3_600_000
  const { code, printed } = await account.run(sync, ['--streams', 'gifts', '--json'])
  const { streams, errors } = JSON.parse(printed.join('\n'))
  const { inserted, updated, removed, calls, slices } = streams.gifts
  return { code, inserted, updated, removed, calls, slices, errors }
}

const countRows = async () => (await readStreamTable(account.database.db, 'gifts')).length

const nothingNew = { code: 0, inserted: 0, updated: 0, removed: 0, errors: [] }

/** What the service has has landed, and another sync writes nothing. */
async function expectWhole(rows: number): Promise<void> {
  expect(await syncGifts()).toMatchObject({ code: 0, inserted: rows, errors: [] })
  await expectTruth(account, ['gifts'])
  expect(await syncGifts(2)).toMatchObject(nothingNew)
}

describe('a page that is refused is never the end', () => {
  test('one 404 in the middle: what lies behind it lands in the same run', async () => {
    addGifts(1000)
    breakGifts(status(404), { page: 3, times: 1 })
    await expectWhole(1000)
  })

  test('a minute with more than the service serves is an error that is named, and the rest lands', async () => {
    addGifts(150, { every: 0, ago: 7200 })
    addGifts(130)
    breakGifts(status(404), { page: 2 })
    breakGifts(status(404), { page: 3 })
    const result = await syncGifts()
    expect(result).toMatchObject({ code: 3 })
    expect(result.errors[0]).toMatchObject({ code: 'api.status', message: expect.stringContaining('page 2: 404') })
    account.emulator.faults.length = 0
    expect(await syncGifts()).toMatchObject({ code: 0 })
    await expectTruth(account, ['gifts'])
  })
})

const beyondTheEnd = ['empty', 'repeat-first', 'repeat-last', 'error'] as const
describe.each<Switches['beyondLastPage']>(beyondTheEnd)('past the end: %s', (beyondLastPage) => {
  beforeEach(() => Object.assign(account.emulator.switches, { beyondLastPage }))

  test.each([3, 100, 230])('a list of %i gifts is read to its end', async (count) => {
    addGifts(count)
    await expectWhole(count)
  })

  test.each([
    ['in the middle', 300, 2_000_000, 130],
    ['all there are', 300, 3600, 0],
  ])('equal gifts that fill pages, %s', async (_where, count, ago, others) => {
    addEqualGifts(count, ago)
    addGifts(others, { ago: 7200, every: 7200 })
    await expectWhole(count + others)
  })
})

describe('a service that serves few rows a page, whatever is asked for', () => {
  const serveAtMost = (most: number) =>
    breakGifts({ name: `${most} a page`, query: (query) => ({ ...query, pageSize: Math.min(query.pageSize, most) }) })
  test.each([5, 12])('%i equal gifts that fill pages of four are read to their end', async (count) => {
    addGifts(4, { ago: 20_000 })
    addEqualGifts(count, 3600)
    serveAtMost(4)
    await expectWhole(4 + count)
  })

  test('its refusal of far pages is no end, in whatever size they are asked for', async () => {
    addGifts(30, { every: 40_000 })
    serveAtMost(3)
    for (let page = 4; page < 40; page++) breakGifts(status(400), { page })
    await expectWhole(30)
    expect(await syncGifts(2)).toMatchObject(nothingNew)
  })

  test('rows that it hides are no end of the others, in any reading', async () => {
    addGifts(14, { every: 40_000 })
    breakGifts(withheldRows((item) => Object(item).gift_id > 4 && Object(item).gift_id < 10))
    serveAtMost(8)
    expect(await syncGifts()).toMatchObject({ code: 0, inserted: 9 })
    for (let reading = 0; reading < 4; reading++) expect(await syncGifts(2)).toMatchObject(nothingNew)
  })

  test.each([17, 18])('of %i rows a page: the next reading has other pages, and agrees', async (most) => {
    addGifts(50, { every: 40_000 })
    serveAtMost(most)
    await syncGifts()
    expect((await syncGifts(2)).slices.agreed).toBe(4)
  })
})

test.each([30, 930])('an ignored page parameter is an error, not %i equal gifts', async (count) => {
  addEqualGifts(count, 3600)
  breakGifts(ignoredPage())
  expect(await syncGifts()).toMatchObject({ code: 3, errors: [{ code: 'paging.ignored' }] })
  expect(await countRows()).toBe(0)
})

describe('a list that moves', () => {
  const isOld = ({ givenAt }: Gift) => givenAt < now - 600

  test('a new gift with every call: the history lands at once, and the youngest when they rest', async () => {
    addGifts(930)
    let given = 0
    const give = () => {
      account.clock.nowMs += 200
      const givenAt = wallTimeAt(account.clock.nowMs, 'Asia/Shanghai')
      channel.gifts.add({ ...example, giftId: 5000 + given++, givenAt })
    }
    for (let call = 0; call < 1500; call++) give()
    now = wallTimeAt(account.clock.nowMs, 'Asia/Shanghai')
    breakGifts(meanwhile(give))
    for (let night = 0; night < 3; night++) {
      expect(await syncGifts()).toMatchObject({ code: 0, slices: { moving: 1, short: 0, failed: 0 }, errors: [] })
      const { rows } = channel.gifts
      expect(await countRows()).toBeGreaterThanOrEqual(rows.filter(isOld).length)
    }
    account.emulator.faults.length = 0
    // Of the last two seconds nothing is asked for.
    expect(await syncGifts(0.001)).toMatchObject({ code: 0 })
    await expectTruth(account, ['gifts'])
  })

  test('late gifts, one in each reading: all but their own minute lands, and they in time', async () => {
    addGifts(930, { every: 60 })
    let late = 0
    const arrive = () => channel.gifts.add({ ...example, giftId: 5000 + late++, givenAt: now - 3600 - 200 * 60 })
    breakGifts(meanwhile(arrive), { page: 2 })
    expect(await syncGifts()).toMatchObject({ code: 0, slices: { short: 0, moving: 0 } })
    expect(await countRows()).toBeGreaterThanOrEqual(930)
    account.emulator.faults.length = 0
    expect(await syncGifts()).toMatchObject({ code: 0 })
    await expectTruth(account, ['gifts'])
  })

  test('a minute that never rests is not written and is named; its neighbours land', async () => {
    addGifts(300, { every: 60 })
    const minute = Math.floor((now - 9000) / MINUTE) * MINUTE
    let crowd = 0
    const arrive = () => channel.gifts.add({ ...example, giftId: 5000 + crowd++, givenAt: minute + 59 })
    for (let gift = 0; gift < 250; gift++) arrive()
    breakGifts(meanwhile(arrive))
    const result = await syncGifts()
    expect(result).toMatchObject({
      code: 3,
      removed: 0,
      slices: { short: 1, failed: 0 },
      errors: [{ code: 'slice.short' }],
    })
    expect(result.errors[0].message).toMatch(/did not come to rest in 3 readings/)
    const outside = channel.gifts.rows.filter(({ givenAt }) => givenAt < minute || givenAt >= minute + MINUTE)
    expect(await countRows()).toBe(outside.length)
    account.emulator.faults.length = 0
    expect(await syncGifts()).toMatchObject({ code: 0 })
    await expectTruth(account, ['gifts'])
  })

  test('late signups, one in each reading: all land, and those that come behind the pages too', async () => {
    const [form] = channel.questionnaires.rows
    const [signup] = form?.signups.rows ?? []
    if (form === undefined || signup === undefined) throw new Error('nobody has signed up')
    let viewers = 0
    const signUp = (signedUpAt: WallTime) => form.signups.add({ ...signup, userId: `u${viewers++}`, signedUpAt })
    for (let place = 0; place < 260; place++) signUp(now - 3600 - place * 90)
    const effect = meanwhile(() => signUp(now - 9000))
    account.emulator.faults.push({ effect, endpoint: 'signupRecord', page: 2 })
    const run = async () => await account.run(sync, ['--streams', 'signups', '--json'])
    const first = await run()
    const { slices } = JSON.parse(first.printed.join('\n')).streams.signups
    expect([first.code, slices.moving, slices.short]).toEqual([0, 0, 0])
    expect((await readStreamTable(account.database.db, 'signups')).length).toBeGreaterThanOrEqual(260)
    account.emulator.faults.length = 0
    expect((await run()).code).toBe(0)
    await expectTruth(account, ['signups'])
  })
})
