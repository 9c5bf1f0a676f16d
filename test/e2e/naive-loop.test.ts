import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { DAY } from '../../src/core/wall-clock.ts'
import { errorsObject, ignoredPage, ignoredTimeFilter, jsonBody } from '../../src/emulator/fault-effects.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { meanwhile, type NumberedLists, startNumberedLists, userIdsOf } from '../helpers/numbered-lists.ts'
import { rawCall } from '../helpers/raw-call.ts'

let lists: NumberedLists
beforeAll(async () => {
  lists = await startNumberedLists()
})
afterAll(async () => await lists[Symbol.asyncDispose]())
beforeEach(async () => await lists.reset())

test('a clamped page size: a short first page is not the end', async () => {
  lists.addVisitors(75)
  const clamp = {
    name: 'clamp',
    query: (query) => ({ ...query, pageSize: Math.min(query.pageSize, 30) }),
  } satisfies FaultEffect
  lists.breakList('visitorList', clamp)
  expect(await lists.readNaively(lists.visitorsOf())).toHaveLength(30)

  expect(await lists.pipeline.sync({ streams: ['visitors'] })).toMatchObject({ status: 'ok' })
  await expectTruth(lists.pipeline, ['visitors'])
})

test('a repeated last page: the same gifts over and over are not gifts', async () => {
  lists.addGifts(200)
  lists.emulator.switches.beyondLastPage = 'repeat-last'
  expect(await lists.readNaively(lists.giftsOf())).toHaveLength(100 * 100)

  expect(await lists.pipeline.sync({ streams: ['gifts'] })).toMatchObject({ status: 'ok' })
  await expectTruth(lists.pipeline, ['gifts'])
})

test('an ignored page parameter: the first hundred three times are not three hundred', async () => {
  lists.addVisitors(250)
  lists.breakList('visitorList', ignoredPage())
  const naive = await lists.readByTotal(lists.visitorsOf())
  expect([naive.length, userIdsOf(naive).size]).toEqual([300, 100])

  const result = await lists.pipeline.sync({ streams: ['visitors'] })
  expect(result).toMatchObject({ status: 'partial', errors: [{ code: 'paging.ignored' }] })
})

test('an ignored time filter: what lies outside is not of the window', async () => {
  lists.addGifts(40)
  lists.breakList('giftRunning', ignoredTimeFilter())
  const days = await Promise.all(
    [1, 2, 3].map((ago) => {
      const [from, to] = [lists.gift.givenAt - ago * DAY, lists.gift.givenAt - (ago - 1) * DAY]
      return lists.readNaively({ ...lists.giftsOf(), window: { from, to } })
    }),
  )
  expect(days.flat()).toHaveLength(3 * 40)

  lists.breakList(
    'giftRunning',
    meanwhile(() => {}),
  )
  lists.emulator.faults.length = 0
  await lists.pipeline.sync({ streams: ['gifts'] })
  await expectTruth(lists.pipeline, ['gifts'])
  // From the second sync on a window is asked for, and the rest lies outside.
  for (const row of lists.channel.gifts.rows.slice()) {
    lists.channel.gifts.replace(row, { ...row, givenAt: row.givenAt - 5 * DAY })
  }
  lists.breakList('giftRunning', ignoredTimeFilter())
  const result = await lists.pipeline.sync({ streams: ['gifts'] })
  expect(result).toMatchObject({ status: 'partial', errors: [{ code: 'paging.ignored' }] })
})

test('a total that changes during the walk: who is pushed to a new last page is not lost', async () => {
  lists.addVisitors(200)
  const onePlus = meanwhile(() =>
    lists.channel.visitors.add({ ...lists.visitor, userId: 'new', lastOnlineAt: lists.visitor.lastOnlineAt + 60 }),
  )
  lists.breakList('visitorList', onePlus, { page: 2, times: 1 })
  const naive = await lists.readByTotal(lists.visitorsOf())
  expect(userIdsOf(naive)).not.toContain('v199')

  for (const row of lists.channel.visitors.rows.slice()) if (row.userId === 'new') lists.channel.visitors.remove(row)
  lists.breakList('visitorList', onePlus, { page: 2, times: 1 })
  const result = await lists.pipeline.sync({ streams: ['visitors'] })
  expect(result).toMatchObject({ status: 'ok', streams: { visitors: { slices: { verified: 1 } } } })
  await expectTruth(lists.pipeline, ['visitors'])
})

test.each<[string, FaultEffect]>([
  ['an object', errorsObject()],
  ['null', jsonBody(null)],
])('%s in place of an array: that is no empty list', async (_name, effect) => {
  lists.addGifts(5)
  await lists.pipeline.sync({ streams: ['gifts'] })
  lists.breakList('giftRunning', effect)
  const { baseUrl, apiToken } = lists.emulator
  const url = `${baseUrl}/v1/activities/${lists.channel.id}/giftRunning`
  const { json } = await rawCall({ method: 'POST', url, bearer: apiToken, body: { type: 'cash', perPage: 100, p: 1 } })
  const naive: readonly unknown[] = Array.isArray(json) ? json : []
  expect(naive).toEqual([])

  const result = await lists.pipeline.sync({ streams: ['gifts'] })
  expect(result).toMatchObject({
    status: 'partial',
    streams: { gifts: { slices: { failed: 2 }, counts: { removed: 0 } } },
  })
  await expectTruth(lists.pipeline, ['gifts'])
})
