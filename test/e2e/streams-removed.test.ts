import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EndpointName } from '../../src/emulator/endpoint.ts'
import { changedRows, duplicateRow, missingRow, noRows, withheldRows } from '../helpers/fault-effects.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { endpointOf } from '../../src/core/slice.ts'
import { streams } from '../../src/streams/registry.ts'
import { wallTimeAt } from '../../src/core/wall-clock.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { firstChannel, firstRows } from '../helpers/first-rows.ts'
import { startPipeline, type TestPipeline } from '../helpers/start-pipeline.ts'

const HOUR_MS = 3_600_000
const removing = ['visitors', 'gifts', 'signups'] as const
type Removing = (typeof removing)[number]

let pipeline: TestPipeline

beforeEach(async ({ task }) => {
  // Enough of everything for a drop to be one, where that is what is tested.
  const viewers = /gifts|every stream/.test(task.name) ? 260 : 60
  pipeline = await startPipeline({ channels: 1, viewers, days: 1 })
  await sync()
})

afterEach(async () => {
  await pipeline[Symbol.asyncDispose]()
})

/** Reads all that stands still; what was marked, by stream. */
async function sync(expectedStatus = 'ok'): Promise<Record<Removing, number>> {
  const result = await pipeline.sync({ streams: ['visitors', 'gifts', 'questionnaires', 'signups'] })
  expect(result.status, JSON.stringify(result.errors)).toBe(expectedStatus)
  const removed = (name: Removing) => result.streams[name]?.counts.removed ?? 0
  return { visitors: removed('visitors'), gifts: removed('gifts'), signups: removed('signups') }
}

async function countMarked(): Promise<Record<string, number>> {
  const counts = await Promise.all(
    removing.map(async (table) => {
      const { rows } = await sql<{ n: string }>`
        select count(*) as n from ${sql.table(`livehouse.${table}`)} where removed_at is not null`.execute(
        pipeline.database.db,
      )
      return [table, Number(rows[0]?.n)] as const
    }),
  )
  return Object.fromEntries(counts)
}

/** Takes the last visitor, gift and signup away. @returns a way to put them back */
function removeLast(): () => void {
  const [channel] = pipeline.emulator.world.channels.values()
  const lists = [channel?.visitors, channel?.gifts, channel?.questionnaires.rows[0]?.signups]
  const undo = lists.map((list) => {
    const row = list?.rows.at(-1)
    if (!list || !row) throw new Error('nothing to remove')
    Reflect.apply(list.remove, list, [row])
    return () => void Reflect.apply(list.add, list, [row])
  })
  return () => {
    for (const putBack of undo) putBack()
  }
}

const none = { visitors: 0, gifts: 0, signups: 0 }
const oneEach = { visitors: 1, gifts: 1, signups: 1 }
const breakLists = (effect: FaultEffect, endpoints: readonly EndpointName[] = ['visitorList', 'signupRecord']) => {
  for (const endpoint of endpoints) pipeline.emulator.faults.push({ effect, endpoint })
}
const mend = () => void pipeline.emulator.faults.splice(0)

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
    await expectTruth(pipeline, ['visitors', 'gifts', 'questionnaires', 'signups'])
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
    const { gifts } = firstChannel(pipeline.emulator)
    const { gift, form, signup } = firstRows(pipeline.emulator)
    pipeline.clock.nowMs += HOUR_MS
    const now = wallTimeAt(pipeline.clock.nowMs, 'Asia/Shanghai') - 60
    const [young, youngGift] = [
      { ...signup, userId: 'young', signedUpAt: now },
      { ...gift, giftId: 77, givenAt: now },
    ]
    form.signups.add(young)
    gifts.add(youngGift)
    await sync()
    form.signups.remove(young)
    gifts.remove(youngGift)
    pipeline.clock.nowMs += 24 * HOUR_MS
    expect(await sync()).toEqual(none)
    pipeline.clock.nowMs += 2 * HOUR_MS
    expect(await sync()).toEqual({ ...none, gifts: 1, signups: 1 })
  })

  test.each<[string, FaultEffect, string]>([
    ['that brought a row twice', duplicateRow(), 'partial'],
    ['that fell short of the total', missingRow(), 'partial'],
    ['that brought nothing', noRows(), 'partial'],
  ])('is never set by a reading %s', async (_which, effect, status) => {
    removeLast()
    await sync()
    breakLists(effect)
    for (let reading = 0; reading < 3; reading++) {
      const { visitors, signups } = await sync(status)
      expect({ visitors, signups }).toEqual({ visitors: 0, signups: 0 })
    }
    mend()
    expect(await sync()).toMatchObject({ visitors: 1, signups: 1 })
  })
})

describe('a surprise drop', () => {
  const held = async () => {
    const { rows } = await sql<{ stream: string; partition: string; proof: string; is_drop: boolean }>`
      select stream, partition, proof, is_drop from livehouse_ops.slices
      where run_id = (select max(run_id) from livehouse_ops.runs) order by stream, partition`.execute(
      pipeline.database.db,
    )
    return rows
  }
  // Without questionnaires nobody asks for their signups.
  const emptied = streams.filter(({ name }) => name !== 'questionnaires')

  test('is short in every stream: an empty answer with total 0 is believed an hour later, and marks only short lists', async () => {
    await pipeline.sync()
    breakLists(noRows(), emptied.map(endpointOf))
    const namesOf = async () => new Set((await held()).filter(({ is_drop }) => is_drop).map(({ stream }) => stream))
    const meant = new Set(emptied.map(({ name }) => name))

    expect(await pipeline.sync()).toMatchObject({ status: 'partial' })
    expect(await namesOf()).toEqual(meant)
    expect((await held()).filter(({ is_drop, proof }) => is_drop && proof !== 'short')).toEqual([])
    pipeline.clock.nowMs += HOUR_MS / 2
    expect(await pipeline.sync()).toMatchObject({ status: 'partial' })
    pipeline.clock.nowMs += HOUR_MS / 2
    expect(await pipeline.sync()).toMatchObject({ status: 'ok' })
    // Of twenty rows or fewer nothing is a surprise: the second empty reading says that they are gone.
    expect(await countMarked()).toEqual({ visitors: 0, gifts: 16, signups: 7 })

    mend()
    expect(await pipeline.sync()).toMatchObject({ status: 'ok' })
    await expectTruth(pipeline)
    expect(await countMarked()).toEqual(none)
  })

  test('of some rows, with a total that agrees, marks them only when an hour later agrees and another reading too', async () => {
    const [channel] = pipeline.emulator.world.channels.values()
    for (const row of channel?.visitors.rows.slice(0, 7) ?? []) channel?.visitors.remove(row)
    const read = async () => await pipeline.sync({ streams: ['visitors'] })
    expect(await read()).toMatchObject({ status: 'partial', errors: [{ code: 'slice.short' }] })
    expect((await read()).errors[0]?.message).toContain('only 53 rows came where there were 60')
    pipeline.clock.nowMs += HOUR_MS
    expect(await read()).toMatchObject({ status: 'ok', streams: { visitors: { counts: { removed: 0 } } } })
    expect(await read()).toMatchObject({ status: 'ok', streams: { visitors: { counts: { removed: 7 } } } })
  })

  test('of a tenth is none, and a fuller reading in between begins the hour anew', async () => {
    const [channel] = pipeline.emulator.world.channels.values()
    const read = async () => (await pipeline.sync({ streams: ['visitors'] })).status
    const rows = channel?.visitors.rows.slice(0, 7) ?? []
    for (const row of rows.slice(1)) channel?.visitors.remove(row)
    expect(await read()).toBe('ok')
    channel?.visitors.add(...rows.slice(1))
    expect(await read()).toBe('ok')

    for (const row of rows) channel?.visitors.remove(row)
    expect(await read()).toBe('partial')
    channel?.visitors.add(...rows)
    expect(await read()).toBe('ok')
    pipeline.clock.nowMs += HOUR_MS
    for (const row of rows) channel?.visitors.remove(row)
    expect(await read()).toBe('partial')
  })

  test('is told of gifts too, which have no total', async () => {
    breakLists(
      withheldRows(() => true),
      ['giftRunning'],
    )
    const result = await pipeline.sync({ streams: ['gifts'] })
    expect(result).toMatchObject({ status: 'partial', streams: { gifts: { counts: { removed: 0 } } } })
  })
})

describe('a row that cannot be read', () => {
  const withoutId = (isMeant: (item: { readonly user_id: string }) => boolean): FaultEffect =>
    changedRows((item) => (isMeant(Object(item)) ? { ...Object(item), user_id: '' } : item))
  const visitors = () => [...pipeline.emulator.world.channels.values()][0]?.visitors
  const marked = async () => {
    pipeline.clock.nowMs += HOUR_MS
    return (await sync()).visitors
  }

  test('that was there before hides nobody who leaves', async () => {
    const [first] = visitors()?.rows ?? []
    pipeline.emulator.faults.push({
      effect: withoutId(({ user_id }) => user_id === first?.userId),
      endpoint: 'visitorList',
    })
    expect([await marked(), await marked()]).toEqual([0, 0])
    const last = visitors()?.rows.at(-1)
    if (last) visitors()?.remove(last)
    expect([await marked(), await marked(), await marked()]).toEqual([0, 1, 0])
  })

  test('may be one that is missed from then on, which is not marked while it is there', async () => {
    const [first] = visitors()?.rows ?? []
    pipeline.emulator.faults.push({
      effect: withoutId(({ user_id }) => user_id === first?.userId),
      endpoint: 'visitorList',
    })
    expect([await marked(), await marked(), await marked()]).toEqual([0, 0, 0])
    pipeline.emulator.faults.length = 0
    if (first) visitors()?.remove(first)
    expect([await marked(), await marked()]).toEqual([0, 1])
  })
})
