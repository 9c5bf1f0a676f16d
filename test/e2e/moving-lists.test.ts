import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Fault, FaultEffect } from '../../src/emulator/faults.ts'
import { defaultSwitches } from '../../src/emulator/switches.ts'
import type { RowList } from '../../src/emulator/world/row-list.ts'
import type { Visitor } from '../../src/emulator/world/world.ts'
import { emptyTables } from '../helpers/empty-tables.ts'
import { changedRows, falseTotal, meanwhile, noRows, status, whereAsked } from '../helpers/fault-effects.ts'
import { first, firstChannel, firstRows, times } from '../helpers/first-rows.ts'
import { ofFile } from '../helpers/of-file.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { readRowVersions } from '../helpers/row-versions.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'

const pipeline = ofFile(() => startPipeline({ channels: 1, days: 1 }))
let visitors: RowList<Visitor>
/** The visitor of whom numbered ones are copies. */
let model: Visitor

beforeAll(() => {
  const { channel, visitor } = firstRows(pipeline.emulator)
  visitors = channel.visitors
  model = visitor
})

beforeEach(async () => {
  pipeline.emulator.faults.length = 0
  Object.assign(pipeline.emulator.switches, defaultSwitches)
  for (const row of visitors.rows.slice()) visitors.remove(row)
  await emptyTables(pipeline.database.db)
})

/** `v0` was online most recently, so that lists begin with it. */
const addVisitors = (count: number) =>
  visitors.add(...times(count, (n) => ({ ...model, userId: `v${n}`, lastOnlineAt: model.lastOnlineAt - n * 60 })))

const breakList = (effect: FaultEffect, fault: Partial<Fault> = {}) =>
  pipeline.emulator.faults.push({ endpoint: 'visitorList', effect, ...fault })

function jumpToFront(userId: string): void {
  const row = first(visitors.rows.filter((each) => each.userId === userId))
  const newest = Math.max(...visitors.rows.map(({ lastOnlineAt }) => lastOnlineAt))
  visitors.replace(row, { ...row, lastOnlineAt: newest + 1, visitTimes: row.visitTimes + 1 })
}

const readQuarantine = async () =>
  await pipeline.database.db.selectFrom('livehouse_ops.quarantine').select(['raw', 'resolved_at']).execute()

async function expectGreen(expected: Readonly<Record<string, object>>): Promise<void> {
  const { status, streams } = await pipeline.sync({ streams: ['visitors'] })
  expect({ status, ...streams.visitors }).toMatchObject({ status: 'ok', ...expected })
}

const duringPage = (page: number, change: () => void) => breakList(meanwhile(change), { page })

test('a list with new and jumping rows in every walk is moving, even if it fails past its end; all land', async () => {
  addVisitors(150)
  let walk = 0
  const come = (userId: string) => visitors.add({ ...model, userId, lastOnlineAt: model.lastOnlineAt - 20_000 })
  duringPage(1, () => come(`late${++walk}`))
  duringPage(2, () => {
    jumpToFront(`late${walk}`)
    come(`last${visitors.rows.length}`)
  })
  breakList(status(500), { page: 3 })
  for (let run = 0; run < 2; run++) await expectGreen({ slices: { verified: 0, moving: 1 }, counts: { removed: 0 } })
  // After three walks the first pages are read again: in the second run they show a visitor whom its last walk missed.
  expect(JSON.stringify(await readStreamTable(pipeline.database.db, 'visitors'))).toContain('"late7"')
  expect(await readQuarantine()).toEqual([])
  breakList(whereAsked(({ page }) => page === 2 && walk === 12, status(500)))
  expect(await pipeline.sync({ streams: ['visitors'] })).toMatchObject({ status: 'partial' })
  pipeline.emulator.faults.length = 0
  breakList(noRows(), { times: 1 })
  expect(await pipeline.sync({ streams: ['visitors'] })).toMatchObject({ status: 'partial' })
  await pipeline.sync({ streams: ['visitors'] })
  await pipeline.expectTruth(['visitors'])
})

test.each([
  ['the latest comes first', 'last-online'],
  ['the latest comes last', 'user-id'],
] as const)('of real duplicates in a still list, %s: it counts, the other is quarantined', async (_name, order) => {
  addVisitors(30)
  pipeline.emulator.switches.visitorOrder = order
  const newest = first(visitors.rows)
  const older = { ...newest, nick: 'older', lastOnlineAt: newest.lastOnlineAt - 90 }
  visitors.add(older)
  await expectGreen({ slices: { verified: 1 }, counts: { inserted: 30, quarantined: 1 } })
  expect(await readQuarantine()).toMatchObject([{ raw: expect.stringContaining('older'), resolved_at: null }])
  const before = await readRowVersions(pipeline.database.db)
  await expectGreen({ slices: { verified: 1 }, counts: { inserted: 0, updated: 0, unchanged: 30 } })
  expect(await readRowVersions(pipeline.database.db)).toEqual(before)
  expect(await readQuarantine()).toHaveLength(1)

  // The total counts the id once.
  await emptyTables(pipeline.database.db)
  breakList(falseTotal(-1))
  await expectGreen({ slices: { verified: 1 }, counts: { inserted: 30, quarantined: 1 } })
  pipeline.emulator.faults.length = 0
  visitors.remove(older)
  await pipeline.sync({ streams: ['visitors'] })
  await pipeline.expectTruth(['visitors'])
  expect(await readQuarantine()).not.toMatchObject([{ resolved_at: null }])
})

test('a whole page that moves to the front of a list is no sign of an ignored page parameter', async () => {
  addVisitors(200)
  duringPage(2, () => times(100, (n) => jumpToFront(`v${n + 100}`)))
  await expectGreen({ slices: { verified: 1 } })
})

test('an identical row that comes twice does not prove a duplicate', async () => {
  addVisitors(30)
  visitors.add({ ...first(visitors.rows) })
  await expectGreen({ slices: { verified: 0, moving: 1 } })
})

test('of three visits with one id, two of them equal, the different one is quarantined', async () => {
  const { records } = firstChannel(pipeline.emulator)
  const row = first(records.rows)
  records.add({ ...row }, { ...row, nick: 'other', leftAt: row.leftAt - 60 })
  expect(await pipeline.sync({ streams: ['watch_records'] })).toMatchObject({ status: 'ok' })
  expect(await readQuarantine()).toMatchObject([{ raw: expect.stringContaining('other'), resolved_at: null }])
})

test('a row that comes twice, with other contents in each walk, is a moving list and no duplicate', async () => {
  addVisitors(150)
  let changes = 0
  const again = (item: unknown) => ({ ...Object(item), user_id: 'v0', nick: `nick ${changes++}` })
  const shifted = changedRows((item, index) => (index === 0 ? again(item) : item))
  breakList(shifted, { page: 2 })
  await expectGreen({ slices: { verified: 0, moving: 1 } })
  expect(await readQuarantine()).toEqual([])
})
