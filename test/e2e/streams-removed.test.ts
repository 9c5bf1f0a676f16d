import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { endpointOf } from '../../src/core/slice.ts'
import { wallTimeAt } from '../../src/core/wall-clock.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { streams } from '../../src/streams/registry.ts'
import { changedRows, duplicateRow, foreignRow, missingRow, noRows, withheldRows } from '../helpers/fault-effects.ts'
import { first, firstChannel, firstRows } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'

/** Streams whose lists do not change by themselves. */
const atRest = ['visitors', 'gifts', 'questionnaires', 'signups']
// Enough rows of every kind for a drop to count as one.
const pipeline = ofTest(async () => {
  const started = await startPipeline({ channels: 1, viewers: 260, days: 1 })
  await started.sync({ streams: atRest })
  return started
})

/** Reads the streams at rest. @returns how many rows were marked as removed, by stream */
async function sync(expectedStatus = 'ok') {
  const result = await pipeline.sync({ streams: atRest })
  expect(result.status, JSON.stringify(result.errors)).toBe(expectedStatus)
  const { visitors, gifts, signups } = result.streams
  return { visitors: visitors?.counts.removed, gifts: gifts?.counts.removed, signups: signups?.counts.removed }
}

async function countMarked() {
  const { rows } = await sql`
    select (select count(*)::int from livehouse.visitors where removed_at is not null) as visitors,
      (select count(*)::int from livehouse.gifts where removed_at is not null) as gifts,
      (select count(*)::int from livehouse.signups where removed_at is not null) as signups
  `.execute(pipeline.database.db)
  return rows[0]
}

/** Removes the last visitor, gift and signup. @returns a function that puts them back */
function removeLast(): () => void {
  const { visitors, gifts, questionnaires } = firstChannel(pipeline.emulator)
  const undo = [visitors, gifts, first(questionnaires.rows).signups].map((list) => {
    const row = list.rows.at(-1)
    Reflect.apply(list.remove, list, [row])
    return () => void Reflect.apply(list.add, list, [row])
  })
  return () => {
    for (const putBack of undo) putBack()
  }
}

const none = { visitors: 0, gifts: 0, signups: 0 }
const oneEach = { visitors: 1, gifts: 1, signups: 1 }
const clearFaults = () => void pipeline.emulator.faults.splice(0)

describe('removed_at of visitors, gifts and signups', () => {
  test('is set by the second proven reading that misses a row, and cleared when it is back', async () => {
    const putBack = removeLast()
    expect(await sync()).toEqual(none)
    expect(await sync()).toEqual(oneEach)
    expect(await sync()).toEqual(none)
    expect(await countMarked()).toEqual(oneEach)
    putBack()
    await sync()
    expect(await countMarked()).toEqual(none)
    await pipeline.expectTruth(atRest)
  })

  test('is not set for a row that was found in between', async () => {
    removeLast()()
    const putBack = removeLast()
    await sync()
    putBack()
    await sync()
    removeLast()
    expect(await sync()).toEqual(none)
    expect(await countMarked()).toEqual(none)
    expect(await sync()).toEqual(oneEach)
  })

  test('is set for a row that was too young to be claimed when it came, and was gone a day later', async () => {
    const { channel, gift, form, signup } = firstRows(pipeline.emulator)
    pipeline.clock.passHours(1)
    const now = wallTimeAt(pipeline.clock.nowMs, 'Asia/Shanghai') - 60
    const young = { ...signup, userId: 'young', signedUpAt: now }
    const youngGift = { ...gift, giftId: 77, givenAt: now }
    form.signups.add(young)
    channel.gifts.add(youngGift)
    await sync()
    form.signups.remove(young)
    channel.gifts.remove(youngGift)
    pipeline.clock.passHours(24)
    expect(await sync()).toEqual(none)
    pipeline.clock.passHours(2)
    expect(await sync()).toEqual({ ...none, gifts: 1, signups: 1 })
  })

  test.each<[string, FaultEffect]>([
    ['that brought a row twice', duplicateRow()],
    ['that fell short of the total', missingRow()],
    ['that brought nothing', noRows()],
  ])('is never set by a reading %s', async (_which, effect) => {
    removeLast()
    await sync()
    for (const endpoint of ['visitorList', 'signupRecord'] as const) pipeline.emulator.faults.push({ effect, endpoint })
    for (let reading = 0; reading < 3; reading++)
      expect(await sync('partial')).toMatchObject({ visitors: 0, signups: 0 })
    clearFaults()
    expect(await sync()).toMatchObject({ visitors: 1, signups: 1 })
  })
})

describe('a surprise drop', () => {
  const readDrops = async () => {
    const { rows } = await sql<{ drop: string }>`
      select distinct stream || ' ' || proof as drop from livehouse_ops.slices
      where is_drop and run_id = (select max(run_id) from livehouse_ops.runs)`.execute(pipeline.database.db)
    return rows.map(({ drop }) => drop).toSorted()
  }
  // Without questionnaires, their signups are not requested.
  const emptied = streams.filter(({ name }) => name !== 'questionnaires')

  test('is short in every stream; an empty answer is believed an hour later, and marks only small lists', async () => {
    await pipeline.sync()
    for (const stream of emptied) pipeline.emulator.faults.push({ effect: noRows(), endpoint: endpointOf(stream) })
    expect(await pipeline.sync()).toMatchObject({ status: 'partial' })
    expect(await readDrops()).toEqual(emptied.map(({ name }) => `${name} short`).toSorted())
    pipeline.clock.passHours(0.5)
    expect(await pipeline.sync()).toMatchObject({ status: 'partial' })
    expect(await countMarked()).toEqual(none)
    pipeline.clock.passHours(0.5)
    expect(await pipeline.sync()).toMatchObject({ status: 'ok' })
    // With twenty rows or fewer no drop is a surprise: the second empty reading marks them.
    expect(await countMarked()).toEqual({ visitors: 0, gifts: 16, signups: 7 })

    clearFaults()
    expect(await pipeline.sync()).toMatchObject({ status: 'ok' })
    await pipeline.expectTruth()
    expect(await countMarked()).toEqual(none)
  })

  test('of some rows, with a total that agrees, marks them only after two readings an hour later agree', async () => {
    const { visitors } = firstChannel(pipeline.emulator)
    for (const row of visitors.rows.slice(0, 27)) visitors.remove(row)
    const read = async () => await pipeline.sync({ streams: ['visitors'] })
    expect(await read()).toMatchObject({ status: 'partial', errors: [{ code: 'slice.short' }] })
    expect((await read()).errors[0]?.message).toContain('only 233 rows came where there were 260')
    pipeline.clock.passHours(1)
    expect(await read()).toMatchObject({ status: 'ok', streams: { visitors: { counts: { removed: 0 } } } })
    expect(await read()).toMatchObject({ status: 'ok', streams: { visitors: { counts: { removed: 27 } } } })
  })

  test('is seen even if the run that brought the rows ended before it recorded its slices', async () => {
    await sql`delete from livehouse_ops.slices`.execute(pipeline.database.db)
    pipeline.emulator.faults.push({ effect: noRows(), endpoint: 'visitorList' })
    expect(await pipeline.sync({ streams: ['visitors'] })).toMatchObject({ status: 'partial' })
  })

  test('is every empty snapshot of a day, because no later day repairs it', async () => {
    const { managers } = pipeline.emulator.world
    for (const row of managers.rows.slice(3)) managers.remove(row)
    const read = async () => (await pipeline.sync({ streams: ['manager_usage'] })).status
    const before = await read()
    pipeline.clock.passHours(24)
    pipeline.emulator.faults.push({ effect: noRows(), endpoint: 'managersUsage', times: 1 })
    expect([before, await read(), await read()]).toEqual(['ok', 'partial', 'ok'])
  })

  test('is not confirmed by an empty answer that came before a fuller reading, even a short one', async () => {
    const read = async (effect: FaultEffect) => {
      pipeline.clock.passHours(2)
      pipeline.emulator.faults.splice(0, 1, { effect, endpoint: 'visitorList' })
      return (await pipeline.sync({ streams: ['visitors'] })).status
    }
    const some = withheldRows((item) => /[0-2]$/.test(String(Object(item).user_id)))
    expect([await read(noRows()), await read(some), await read(noRows())]).toEqual(Array(3).fill('partial'))
  })

  test('followed by growth is believed an hour later, but not because of an empty answer before', async () => {
    const { visitors } = firstChannel(pipeline.emulator)
    const rows = visitors.rows.slice()
    const readWith = async (count: number) => {
      for (const row of visitors.rows.slice()) visitors.remove(row)
      visitors.add(...rows.slice(0, count))
      pipeline.clock.passHours(1)
      return (await pipeline.sync({ streams: ['visitors'] })).status
    }
    const ended = [await readWith(0), await readWith(60), await readWith(90), await readWith(140)]
    expect(ended).toEqual(['partial', 'partial', 'ok', 'ok'])
  })

  test('of a tenth is no drop, and a fuller reading in between starts the hour anew', async () => {
    const { visitors } = firstChannel(pipeline.emulator)
    const read = async () => (await pipeline.sync({ streams: ['visitors'] })).status
    const rows = visitors.rows.slice(0, 27)
    for (const row of rows.slice(1)) visitors.remove(row)
    expect(await read()).toBe('ok')
    visitors.add(...rows.slice(1))
    expect(await read()).toBe('ok')

    for (const row of rows) visitors.remove(row)
    expect(await read()).toBe('partial')
    visitors.add(...rows)
    expect(await read()).toBe('ok')
    pipeline.clock.passHours(1)
    for (const row of rows) visitors.remove(row)
    expect(await read()).toBe('partial')
  })
})

describe('a row that cannot be read', () => {
  const visitors = () => firstChannel(pipeline.emulator).visitors
  const breakFirst = ({ userId } = first(visitors().rows)) => {
    const effect = changedRows((item) => (Object(item).user_id === userId ? { ...Object(item), user_id: '' } : item))
    pipeline.emulator.faults.push({ effect, endpoint: 'visitorList' })
  }
  const marked = async () => {
    pipeline.clock.passHours(1)
    return (await sync()).visitors
  }

  test('does not hide another row that leaves', async () => {
    breakFirst()
    expect([await marked(), await marked()]).toEqual([0, 0])
    visitors().remove(first(visitors().rows.slice(-1)))
    expect([await marked(), await marked(), await marked()]).toEqual([0, 1, 0])
  })

  test('may be a row that is missed, which is not marked until the unreadable one is gone', async () => {
    // Neither an item of another stream nor one that was resolved accounts for it.
    pipeline.emulator.faults.push({ effect: foreignRow('stray'), endpoint: 'giftRunning' })
    breakFirst(first(visitors().rows.slice(1)))
    await marked()
    pipeline.emulator.faults.pop()
    await marked()
    const row = first(visitors().rows)
    visitors().remove(row)
    expect(await marked()).toBe(0)
    visitors().add(row)
    breakFirst(row)
    expect([await marked(), await marked(), await marked()]).toEqual([0, 0, 0])
    clearFaults()
    visitors().remove(row)
    expect([await marked(), await marked()]).toEqual([0, 1])
  })
})
