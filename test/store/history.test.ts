import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Row } from '../../src/core/column.ts'
import type { Partition, Window } from '../../src/core/slice.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import type { Database } from '../../src/store/database.ts'
import { gifts } from '../../src/streams/gifts.ts'
import { compareWithHeld } from '../../src/store/history.ts'
import { countHeld } from '../../src/store/table-part.ts'
import { loadRows, prepareToLoad } from '../../src/store/load.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

const timeZone = 'Asia/Shanghai'
const partition: Partition = { channel: '9', type: 'cash' }
const hour = (from: string, to: string): Window => ({ from: parseWallTime(from) ?? 0, to: parseWallTime(to) ?? 0 })
const morning = hour('2026-11-20 10:00', '2026-11-20 11:00')
const at = new Date('2026-11-20T06:00:00Z')

let database: TestDatabase
let db: Kysely<Database>

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
})

afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

const gift = (key: string, fields: Row = {}): Row => ({
  channel_id: '9',
  gift_type: 'cash',
  gift_key: key,
  given_at: '2026-11-20 10:30:00',
  occurrence: 1,
  extra: null,
  ...fields,
})

const inTransaction = <Result>(work: (trx: Parameters<typeof compareWithHeld>[0]) => Promise<Result>) =>
  db.transaction().execute(async (trx) => {
    await prepareToLoad(trx, timeZone)
    return await work(trx)
  })

const load = async (...rows: readonly Row[]) => await inTransaction((trx) => loadRows(trx, gifts, rows, '1'))

/** A proven reading of the morning (or of what is given) that found these. @returns how many it marked */
const find = async (keys: readonly string[], window: Window | null = morning, part = partition, runId = '2') =>
  await inTransaction(async (trx) => {
    const found = new Set(keys)
    const answer = { count: found.size, has: (key: string) => found.has(key) }
    const { removed } = await compareWithHeld(
      trx,
      { stream: gifts, partition: part, window: window ?? undefined, timeZone },
      answer,
      { runId, at, missedBy: at },
    )
    return removed
  })

const readRemoved = async () => {
  const { rows } = await sql<{ gift_key: string }>`
    select gift_key from livehouse.gifts where removed_at is not null order by gift_key`.execute(db)
  return rows.map(({ gift_key }) => gift_key)
}

beforeEach(async () => {
  await sql`truncate livehouse.gifts, livehouse_ops.missed_rows`.execute(db)
  await load(gift('a'), gift('b'), gift('c'))
})

test('a row that two proven readings in a row miss is marked, with the time and the run, and no other is touched', async () => {
  const others = () => sql`select ctid, xmin from livehouse.gifts where gift_key <> 'b' order by gift_key`.execute(db)
  const before = (await others()).rows
  expect(await find(['a', 'c'])).toBe(0)
  expect(await readRemoved()).toEqual([])
  expect(await find(['a', 'c'], morning, partition, '3')).toBe(1)
  const { rows } = await sql`select removed_at, run_id, changed_at > inserted_at as has_changed
    from livehouse.gifts where gift_key = 'b'`.execute(db)
  expect(rows).toEqual([{ removed_at: at, run_id: '3', has_changed: true }])
  expect((await others()).rows).toEqual(before)
})

test('a third reading that misses it says no more about it', async () => {
  for (let reading = 0; reading < 2; reading++) await find(['a', 'c'])
  expect(await find(['a', 'c'], morning, partition, '4')).toBe(0)
  expect(await countHeld(db, { stream: gifts, partition, window: morning, timeZone })).toBe(2)
})

test('a row that is found in between is missed for the first time afterwards', async () => {
  await find(['a', 'c'])
  await find(['a', 'b', 'c'])
  expect(await find(['a', 'c'])).toBe(0)
  expect(await find(['a', 'c'])).toBe(1)
})

test('a row that is back is no longer removed, and is missed for the first time afterwards', async () => {
  for (let reading = 0; reading < 2; reading++) await find(['a', 'c'])
  await load(gift('b'))
  await find(['a', 'b', 'c'])
  expect(await readRemoved()).toEqual([])
  expect(await find(['a', 'c'])).toBe(0)
})

test('one row that is missed now and another before are told apart', async () => {
  await find(['a', 'c'])
  expect(await find(['a', 'b'])).toBe(0)
  expect(await find(['a', 'b'])).toBe(1)
  expect(await readRemoved()).toEqual(['c'])
})

test('a window says nothing about rows outside it, and its end is outside', async () => {
  await load(
    gift('early', { given_at: '2026-11-20 09:59:59' }),
    gift('first', { given_at: '2026-11-20 10:00:00' }),
    gift('last', { given_at: '2026-11-20 10:59:59' }),
    gift('end', { given_at: '2026-11-20 11:00:00' }),
    gift('never', { given_at: null }),
  )
  for (let reading = 0; reading < 2; reading++) await find(['a', 'b', 'c'])
  expect(await readRemoved()).toEqual(['first', 'last'])
})

test('a reading of another window does not forgive what this one missed', async () => {
  await load(gift('noon', { given_at: '2026-11-20 12:00:00' }))
  await find(['a', 'c'])
  await find(['noon'], hour('2026-11-20 12:00', '2026-11-20 13:00'))
  expect(await find(['a', 'c'])).toBe(1)
})

test('another channel and another type are other rows', async () => {
  await load(gift('b', { channel_id: '10' }))
  await load(gift('b', { gift_type: 'prop' }))
  for (let reading = 0; reading < 2; reading++) await find(['a', 'c'])
  const { rows } = await sql`select channel_id, gift_type from livehouse.gifts where removed_at is not null`.execute(db)
  expect(rows).toEqual([{ channel_id: '9', gift_type: 'cash' }])
})

test('a walk without a window is held against the whole partition, in as many steps as it takes', async () => {
  const many = Array.from({ length: 10_500 }, (_, index) => gift(`n${index}`))
  for (let start = 0; start < many.length; start += 3500) await load(...many.slice(start, start + 3500))
  const found = many.map(({ gift_key }) => String(gift_key)).filter((key) => key !== 'n4321' && key !== 'n9999')
  for (let reading = 0; reading < 2; reading++) await find(['a', 'b', 'c', ...found], null)
  expect(await readRemoved()).toEqual(['n4321', 'n9999'])
})
