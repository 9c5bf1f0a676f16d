import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { meanwhile, startNumberedLists } from '../helpers/numbered-lists.ts'
import { ofFile } from '../helpers/of-file.ts'

const lists = ofFile(startNumberedLists)
beforeEach(async () => await lists.reset())

test('a visitor who jumps to the front between two pages is not lost, and who comes twice is no duplicate', async () => {
  lists.addVisitors(200)
  const jump = (userId: string) =>
    lists.breakList(
      'visitorList',
      meanwhile(() => lists.jumpToFront(userId)),
      { page: 2, times: 1 },
    )
  jump('v160')
  const result = await lists.pipeline.sync({ streams: ['visitors'] })
  expect(result).toMatchObject({ status: 'ok', streams: { visitors: { slices: { verified: 1 } } } })
  await expectTruth(lists.pipeline, ['visitors'])
  expect(await lists.readQuarantine()).toEqual([])
})

test('who comes and jumps to the front during the last walk over a moving list lands too', async () => {
  lists.addVisitors(200)
  let walk = 0
  const come = () => {
    if (++walk === 3)
      lists.channel.visitors.add({
        ...lists.visitor,
        userId: 'late',
        lastOnlineAt: lists.visitor.lastOnlineAt - 20_000,
      })
  }
  lists.breakList('visitorList', meanwhile(come), { page: 1, times: 3 })
  lists.breakList(
    'visitorList',
    meanwhile(() => lists.jumpToFront(walk === 3 ? 'late' : `v${199 - walk}`)),
    { page: 2, times: 3 },
  )
  expect(await lists.pipeline.sync({ streams: ['visitors'] })).toMatchObject({
    status: 'ok',
    streams: { visitors: { slices: { moving: 1 } } },
  })
  await expectTruth(lists.pipeline, ['visitors'])
})

test('a list in which somebody jumps during every walk is moving: all land, nobody is marked or a duplicate', async () => {
  lists.addVisitors(200)
  await lists.pipeline.sync({ streams: ['visitors'] })
  let last = 199
  lists.breakList(
    'visitorList',
    meanwhile(() => lists.jumpToFront(`v${last--}`)),
    { page: 2 },
  )
  for (let run = 0; run < 2; run++) {
    const result = await lists.pipeline.sync({ streams: ['visitors'] })
    expect(result).toMatchObject({
      status: 'ok',
      streams: { visitors: { slices: { verified: 0, moving: 1 }, counts: { removed: 0 } } },
    })
  }
  expect(await lists.readQuarantine()).toEqual([])
  lists.emulator.faults.length = 0
  await lists.pipeline.sync({ streams: ['visitors'] })
  await expectTruth(lists.pipeline, ['visitors'])
})

test.each([
  ['the latest comes first', 'last-online'],
  ['the latest comes last', 'user-id'],
] as const)(
  'real duplicates in a still list, %s: it counts, the other is kept, and reading again writes nothing',
  async (_name, order) => {
    lists.addVisitors(30)
    lists.emulator.switches.visitorOrder = order
    const [first] = lists.channel.visitors.rows
    if (!first) throw new Error('no visitor')
    const older = { ...first, nick: 'older', lastOnlineAt: first.lastOnlineAt - 90 }
    lists.channel.visitors.add(older)
    const versions = async () => {
      const { rows } = await sql`select ctid, xmin from livehouse.visitors order by ctid`.execute(
        lists.pipeline.database.db,
      )
      return rows
    }
    const result = await lists.pipeline.sync({ streams: ['visitors'] })
    expect(result).toMatchObject({
      status: 'ok',
      streams: { visitors: { slices: { verified: 1 }, counts: { inserted: 30, quarantined: 1 } } },
    })
    expect(await lists.readQuarantine()).toMatchObject([{ raw: expect.stringContaining('older'), resolved_at: null }])
    const before = await versions()
    const again = await lists.pipeline.sync({ streams: ['visitors'] })
    expect(again).toMatchObject({
      status: 'ok',
      streams: { visitors: { slices: { verified: 1 }, counts: { inserted: 0, updated: 0, unchanged: 30 } } },
    })
    expect(await versions()).toEqual(before)
    expect(await lists.readQuarantine()).toHaveLength(1)

    lists.channel.visitors.remove(older)
    await lists.pipeline.sync({ streams: ['visitors'] })
    await expectTruth(lists.pipeline, ['visitors'])
    expect(await lists.readQuarantine()).not.toMatchObject([{ resolved_at: null }])
  },
)

test('a row that comes twice as it is proves no duplicate', async () => {
  lists.addVisitors(30)
  const [first] = lists.channel.visitors.rows
  if (first) lists.channel.visitors.add({ ...first })
  const result = await lists.pipeline.sync({ streams: ['visitors'] })
  expect(result).toMatchObject({ status: 'ok', streams: { visitors: { slices: { verified: 0, moving: 1 } } } })
})

test('a row that comes twice with other contents in each walk is a list that moves, no duplicate', async () => {
  lists.addVisitors(150)
  const [first] = lists.channel.visitors.rows
  let changes = 0
  const replaceFirst: FaultEffect = {
    name: 'shifted row',
    answer: (answer) => {
      if (answer.body.kind !== 'list' || first === undefined) return answer
      const { body } = answer
      const shifted = (item: unknown) => ({ ...Object(item), user_id: first.userId, nick: `nick ${changes++}` })
      return {
        ...answer,
        body: {
          ...body,
          cacheKey: undefined,
          items: () => body.items().map((item, index) => (index === 0 ? shifted(item) : item)),
        },
      }
    },
  }
  lists.breakList('visitorList', replaceFirst, { page: 2 })
  const result = await lists.pipeline.sync({ streams: ['visitors'] })
  expect(result).toMatchObject({ status: 'ok', streams: { visitors: { slices: { verified: 0, moving: 1 } } } })
  expect(await lists.readQuarantine()).toEqual([])
})
