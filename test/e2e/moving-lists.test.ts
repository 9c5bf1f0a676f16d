import { beforeEach, expect, test } from 'vitest'
import { changedRows, meanwhile, noRows } from '../helpers/fault-effects.ts'
import { first } from '../helpers/first-rows.ts'
import { startNumberedLists } from '../helpers/numbered-lists.ts'
import { ofFile } from '../helpers/of-file.ts'
import { readRowVersions } from '../helpers/row-versions.ts'

const lists = ofFile(startNumberedLists)
beforeEach(async () => await lists.reset())

/** A sync of the visitors that is green, with such counts and slices. */
async function expectGreen(expected: Readonly<Record<string, object>>): Promise<void> {
  const { status, streams } = await lists.pipeline.sync({ streams: ['visitors'] })
  expect({ status, ...streams.visitors }).toMatchObject({ status: 'ok', ...expected })
}

/** Does something before each of these pages is served. */
const meanwhileOf = (page: number, change: () => void, times?: number) =>
  lists.breakList('visitorList', meanwhile(change), { page, ...(times && { times }) })

test('a visitor who jumps to the front between two pages is not lost, and who comes twice is no duplicate', async () => {
  lists.addVisitors(200)
  meanwhileOf(2, () => lists.jumpToFront('v160'), 1)
  await expectGreen({ slices: { verified: 1 } })
  await lists.pipeline.expectTruth(['visitors'])
  expect(await lists.readQuarantine()).toEqual([])
})

test('who comes and jumps to the front during the last walk over a moving list lands too', async () => {
  lists.addVisitors(200)
  let walk = 0
  const late = { ...lists.visitor, userId: 'late', lastOnlineAt: lists.visitor.lastOnlineAt - 20_000 }
  const come = () => {
    if (++walk === 3) lists.channel.visitors.add(late)
  }
  meanwhileOf(1, come, 3)
  meanwhileOf(2, () => lists.jumpToFront(walk === 3 ? 'late' : `v${199 - walk}`), 3)
  await expectGreen({ slices: { moving: 1 } })
  await lists.pipeline.expectTruth(['visitors'])
})

test('a list in which somebody jumps during every walk is moving: all land, nobody is marked or a duplicate', async () => {
  lists.addVisitors(200)
  await lists.pipeline.sync({ streams: ['visitors'] })
  let last = 199
  meanwhileOf(2, () => lists.jumpToFront(`v${last--}`))
  for (let run = 0; run < 2; run++) await expectGreen({ slices: { verified: 0, moving: 1 }, counts: { removed: 0 } })
  expect(await lists.readQuarantine()).toEqual([])
  lists.emulator.faults.length = 0
  await lists.pipeline.sync({ streams: ['visitors'] })
  await lists.pipeline.expectTruth(['visitors'])
})

test('an empty answer after a first reading that moved is not believed at once', async () => {
  lists.addVisitors(200)
  let last = 199
  meanwhileOf(2, () => lists.jumpToFront(`v${last--}`))
  await expectGreen({ slices: { moving: 1 } })
  lists.emulator.faults.length = 0
  lists.breakList('visitorList', noRows())
  expect(await lists.pipeline.sync({ streams: ['visitors'] })).toMatchObject({ status: 'partial' })
})

test.each([
  ['the latest comes first', 'last-online'],
  ['the latest comes last', 'user-id'],
] as const)('of real duplicates in a still list, %s: it counts, and the other is kept', async (_name, order) => {
  lists.addVisitors(30)
  lists.emulator.switches.visitorOrder = order
  const newest = first(lists.channel.visitors.rows)
  const older = { ...newest, nick: 'older', lastOnlineAt: newest.lastOnlineAt - 90 }
  lists.channel.visitors.add(older)
  const versions = async () => await readRowVersions(lists.pipeline.database.db)
  await expectGreen({ slices: { verified: 1 }, counts: { inserted: 30, quarantined: 1 } })
  expect(await lists.readQuarantine()).toMatchObject([{ raw: expect.stringContaining('older'), resolved_at: null }])
  const before = await versions()
  await expectGreen({ slices: { verified: 1 }, counts: { inserted: 0, updated: 0, unchanged: 30 } })
  expect(await versions()).toEqual(before)
  expect(await lists.readQuarantine()).toHaveLength(1)

  lists.channel.visitors.remove(older)
  await lists.pipeline.sync({ streams: ['visitors'] })
  await lists.pipeline.expectTruth(['visitors'])
  expect(await lists.readQuarantine()).not.toMatchObject([{ resolved_at: null }])
})

test('a row that comes twice as it is proves no duplicate', async () => {
  lists.addVisitors(30)
  lists.channel.visitors.add({ ...first(lists.channel.visitors.rows) })
  await expectGreen({ slices: { verified: 0, moving: 1 } })
})

test('a row that comes twice with other contents in each walk is a list that moves, no duplicate', async () => {
  lists.addVisitors(150)
  let changes = 0
  const again = (item: unknown) => ({ ...Object(item), user_id: 'v0', nick: `nick ${changes++}` })
  const shifted = changedRows((item, index) => (index === 0 ? again(item) : item))
  lists.breakList('visitorList', shifted, { page: 2 })
  await expectGreen({ slices: { verified: 0, moving: 1 } })
  expect(await lists.readQuarantine()).toEqual([])
})
