import pLimit, { type LimitFunction } from 'p-limit'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/core/log.ts'
import { openWallClock } from '../../src/core/wall-clock.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { createBatchLoader, lightChunksOf } from '../../src/sync/batch-loader.ts'
import { createReadAhead } from '../../src/sync/read-ahead.ts'
import type { RunDeps } from '../../src/sync/slice-work.ts'
import { visitors } from '../../src/streams/visitors.ts'
import { itemReader } from '../../src/transform/field.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { untilBlocked } from '../helpers/own-locks.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'
import { readItems } from '../helpers/read-items.ts'
import { createVisitorGate } from '../helpers/visitor-gate.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => await database[Symbol.asyncDispose]())

function openLoader(channel: string, loadLimit: LimitFunction, db = database.db) {
  const deps: RunDeps = {
    db,
    clock: createFakeClock(),
    runId: '1',
    timeZone: 'Asia/Shanghai',
    claimableMs: () => Number.POSITIVE_INFINITY,
    wallTimeAt: openWallClock('Asia/Shanghai'),
    fetchPage: async () => await Promise.reject(new Error('nothing is asked')),
    openItemReader: itemReader,
    log: silentLog,
    signal: new AbortController().signal,
    report: () => {},
    readAhead: createReadAhead(1, createFakeClock()),
    requireLease: async () => {},
    loadLimit,
    pagesPerSlice: 50,
  }
  return createBatchLoader({ stream: visitors, partition: { channel }, window: undefined, covers: undefined }, deps)
}

const rowsOf = (channel: string, from: number, count: number, fields: object = {}) => {
  const items = Array.from({ length: count }, (_, index) => ({ user_id: `u${from + index}`, ...fields }))
  return readItems(visitors, items, {}, { channel })
}

const countOf = async (channel: string) => {
  const { rows } = await sql<{ count: string }>`
    select count(*) from livehouse.visitors where channel_id = ${channel}`.execute(database.db)
  return Number(rows[0]?.count)
}

describe('a loader of rows with a key', () => {
  test('takes more rows while a batch waits for its turn no longer than one batch', async () => {
    const limit = pLimit(1)
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const other = limit(() => isOver)
    const loader = openLoader('11', limit)
    await loader.add(rowsOf('11', 0, 1999))
    let isTaken = false
    const added = (async () => {
      await loader.add(rowsOf('11', 1999, 1))
      isTaken = true
    })()
    expect(isTaken).toBe(false)
    expect(await countOf('11')).toBe(0)
    end()
    await other
    await added
    await loader.add(rowsOf('11', 2000, 500))
    await loader.finish(async () => {})
    expect(loader.counts()).toMatchObject({ inserted: 2500, updated: 0, unchanged: 0 })
    expect(await countOf('11')).toBe(2500)
  })

  test('lands only after every batch has been committed', async () => {
    const loader = openLoader('12', pLimit(2))
    await loader.add(rowsOf('12', 0, 7000))
    let seen = 0
    await loader.finish(async () => {
      seen = await countOf('12')
    })
    expect(seen).toBe(6000)
    expect(await countOf('12')).toBe(7000)
  })

  test('does not land where a batch failed, and gives its turn back', async () => {
    const limit = pLimit(1)
    const loader = openLoader('13', limit)
    const [row] = rowsOf('13', 0, 1)
    if (row === undefined) throw new Error('no row')
    await loader.add([...rowsOf('13', 1, 1999), { ...row, last_ip: 'no address' }])
    let hasLanded = false
    const land = async () => {
      hasLanded = true
    }
    await expect(loader.finish(land)).rejects.toThrow('no address')
    await expect(loader.add(rowsOf('13', 2000, 1))).rejects.toThrow('no address')
    expect(hasLanded).toBe(false)
    expect(await countOf('13')).toBe(0)
    expect(limit.activeCount).toBe(0)
  })

  test('is used again after it has landed', async () => {
    const loader = openLoader('14', pLimit(1))
    await loader.add(rowsOf('14', 0, 3))
    await loader.finish(async () => {})
    await loader.add(rowsOf('14', 2, 3, { nick: 'n' }))
    await loader.finish(async () => {})
    expect(loader.counts()).toMatchObject({ inserted: 5, updated: 1 })
    expect(await countOf('14')).toBe(5)
  })

  test('upserts at first, copies what comes behind new rows, and tries no copy behind others', async () => {
    await sql`truncate livehouse.visitors`.execute(database.db)
    await sql`create table statements (place serial, kind text)`.execute(database.db)
    await sql`create function note() returns trigger language plpgsql as $$
      begin
        insert into statements (kind) values (substring(current_query() from '[a-z]+'));
        return null;
      end $$`.execute(database.db)
    await sql`create trigger note after insert on livehouse.visitors for each statement
      execute function note()`.execute(database.db)
    const load = async (...rows: readonly (readonly [from: number, count: number])[]) => {
      const loader = openLoader('16', pLimit(1))
      for (const [from, count] of rows) {
        await loader.add(rowsOf('16', from, count))
        await loader.flush()
      }
      await loader.finish(async () => {})
      const { rows: noted } = await sql<{ kind: string }>`delete from statements returning kind`.execute(database.db)
      return noted.map(({ kind }) => kind)
    }
    expect(await load([0, 2], [2, 1], [3, 1])).toEqual(['with', 'copy', 'copy'])
    expect(await load([0, 2], [1, 2], [2, 2], [4, 1])).toEqual(['with', 'with', 'with', 'with'])
    await sql`drop trigger note on livehouse.visitors`.execute(database.db)
    // A copy that was refused would have left dead rows behind.
    const { rows } = await sql<{ place: string }>`select ctid::text as place from livehouse.visitors`.execute(
      database.db,
    )
    expect(rows.map(({ place }) => place)).toEqual(['(0,1)', '(0,2)', '(0,3)', '(0,4)', '(0,5)'])
  })

  test('tries again where another transaction waits for its own, and the server ends it', async () => {
    await sql`alter database ${sql.id(database.name)} set deadlock_timeout = '10ms'`.execute(database.db)
    await using db = await openDatabase(database.url)
    const gate = await createVisitorGate(database.db, 'u1')
    const { promise: hasInserted, resolve: inserted } = Promise.withResolvers<void>()
    const { promise: isHeldUp, resolve: heldUp } = Promise.withResolvers<void>()
    const insert = (id: string) =>
      sql`insert into livehouse.visitors (channel_id, user_id, run_id) values ('15', ${id}, 9)`
    const other = db.transaction().execute(async (trx) => {
      await sql`set local deadlock_timeout = '10min'`.execute(trx)
      await insert('u1').execute(trx)
      inserted()
      await isHeldUp
      await insert('u0').execute(trx)
    })
    await hasInserted
    const letOn = await gate.close()
    const loader = openLoader('15', pLimit(1), db)
    await loader.add(rowsOf('15', 0, 3))
    const landed: string[] = []
    const landing = loader.finish(async () => void landed.push('landed'))
    await gate.reached()
    heldUp()
    // Only then does the loader wait for the other one: it is the last in the ring, and finds it.
    await untilBlocked(database.db, sql`locktype = 'transactionid'`)
    await letOn()
    await other
    await landing
    expect(landed).toEqual(['landed'])
    expect(loader.counts()).toMatchObject({ inserted: 1, updated: 0, unchanged: 2 })
    expect(await countOf('15')).toBe(3)
  })
})

const sizesOf = (texts: readonly number[], most = 1000) => {
  const rows = texts.map((length, id) => ({ id, text: '问'.repeat(length) }))
  const chunks = [...lightChunksOf(rows, most)]
  expect(chunks.flat()).toEqual(rows)
  return chunks.map(({ length }) => length)
}

test.each<[string, readonly number[], readonly number[]]>([
  ['no row', [], []],
  ['light rows, as many as a statement takes', Array.from({ length: 2500 }, () => 10), [1000, 1000, 500]],
  ['rows of hundreds of answers, fewer', Array.from({ length: 90 }, () => 50_000), [40, 40, 10]],
  ['a row that is too heavy for any, alone', [1, 3_000_000, 1], [1, 1, 1]],
])('%s', (_, texts, sizes) => {
  expect(sizesOf(texts)).toEqual(sizes)
})
