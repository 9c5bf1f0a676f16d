import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { visitors } from '../../src/streams/visitors.ts'
import { prepareToLoad } from '../../src/warehouse/load.ts'
import { createRowBuffers, type RowBuffer } from '../../src/warehouse/row-buffers.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

let database: TestDatabase
let db: Kysely<Database>

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
  await sql`create table statements (place serial, kind text)`.execute(db)
  await sql`create function note() returns trigger language plpgsql as $$
    begin
      insert into statements (kind) values (substring(current_query() from '[a-z]+'));
      return null;
    end $$`.execute(db)
  await sql`create trigger note after insert on livehouse.visitors for each statement execute function note()`.execute(
    db,
  )
})
afterAll(async () => await database[Symbol.asyncDispose]())

const write = async (buffer: RowBuffer, ...ids: readonly string[]) => {
  buffer.append(ids.map((id) => ({ channel_id: '9', user_id: id, extra: null })))
  const counts = await db.transaction().execute(async (trx) => {
    await prepareToLoad(trx, 'Asia/Shanghai')
    return await buffer.write(trx)
  })
  buffer.giveBack()
  return counts
}

const readKinds = async () => {
  const { rows } = await sql<{ kind: string }>`delete from statements returning kind, place`.execute(db)
  return rows.map(({ kind }) => kind)
}

test('rows are upserted at first, copied while all of those before were new, and upserted again after others', async () => {
  const take = createRowBuffers('1').open(visitors)
  const upserting = take()
  expect(await write(upserting, 'a', 'b')).toEqual({ inserted: 2, updated: 0, unchanged: 0 })
  expect(await readKinds()).toEqual(['with'])
  expect(await write(take(), 'c')).toEqual({ inserted: 1, updated: 0, unchanged: 0 })
  expect(await write(take(), 'd')).toEqual({ inserted: 1, updated: 0, unchanged: 0 })
  expect(await readKinds()).toEqual(['copy', 'copy'])
  // The copy that met a row wrote nothing; its statement is not seen.
  expect(await write(take(), 'a', 'e')).toEqual({ inserted: 1, updated: 0, unchanged: 1 })
  const next = take()
  expect(next.append).toBe(upserting.append)
  expect(await write(next, 'a')).toEqual({ inserted: 0, updated: 0, unchanged: 1 })
  expect(await readKinds()).toEqual(['with', 'with'])
})

test('a buffer that is given back is empty when it is taken again', async () => {
  const take = createRowBuffers('1').open(visitors)
  await write(take(), 'x')
  const copying = take()
  await write(copying, 'y')
  const again = take()
  expect(again.append).toBe(copying.append)
  expect(again.size()).toBe(0)
  expect(await write(again, 'z')).toEqual({ inserted: 1, updated: 0, unchanged: 0 })
})

test('slices hand their buffers on, but not what they have learnt of their rows', async () => {
  const buffers = createRowBuffers('1')
  const [take, takeOther] = [buffers.open(visitors), buffers.open(visitors)]
  const mine = take()
  const other = takeOther()
  expect(other.append).not.toBe(mine.append)
  await write(mine, 'm')
  await write(other, 'x')
  await readKinds()
  const next = buffers.open(visitors)()
  expect([mine.append, other.append]).toContain(next.append)
  await write(next, 'n')
  expect(await readKinds()).toEqual(['with'])
  await write(take(), 'o')
  expect(await readKinds()).toEqual(['copy'])
})
