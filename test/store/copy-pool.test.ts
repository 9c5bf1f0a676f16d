import { CompiledQuery, type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/store/database.ts'
import { createTestDatabase, onServer, type TestDatabase } from '../helpers/postgres.ts'

let database: TestDatabase
let db: Kysely<Database>

beforeAll(async () => {
  database = await createTestDatabase({ isMigrated: false })
  db = database.db
  await sql`create table numbers (number integer primary key)`.execute(db)
})
beforeEach(async () => {
  await sql`truncate numbers`.execute(db)
})
afterAll(async () => await database[Symbol.asyncDispose]())

const copy = (text: string) => CompiledQuery.raw('copy numbers from stdin', [Buffer.from(text)])
const countOf = async () => {
  const { rows } = await sql<{ count: string }>`select count(*) from numbers`.execute(db)
  return Number(rows[0]?.count)
}

test('a copy writes its data, as part of the transaction that it stands in', async () => {
  await db.transaction().execute(async (trx) => {
    await sql`insert into numbers values (1)`.execute(trx)
    await trx.executeQuery(copy('2\n3\n'))
    expect(await countOf()).toBe(0)
  })
  expect(await countOf()).toBe(3)
})

test('data of many megabytes arrive whole', async () => {
  const lines = Array.from({ length: 1_500_000 }, (_, index) => `${index}\n`).join('')
  expect(lines.length).toBeGreaterThan(10_000_000)
  await db.executeQuery(copy(lines))
  expect(await countOf()).toBe(1_500_000)
})

test.each([
  ['in its first line', 'none\n1\n'],
  ['behind megabytes of good ones', `${Array.from({ length: 500_000 }, (_, index) => `${index}\n`).join('')}none\n`],
])('a line that cannot be read, %s, fails the statement, and the connection serves the next one', async (_, text) => {
  await db.connection().execute(async (connection) => {
    await expect(connection.executeQuery(copy(text))).rejects.toThrow('invalid input syntax for type integer: "none"')
    expect(await countOf()).toBe(0)
    await connection.executeQuery(copy('7\n'))
  })
  expect(await countOf()).toBe(1)
})

test('a connection that is lost before the data arrive is told as lost', async () => {
  const failure = await db.connection().execute(async (connection) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(connection)
    await onServer(async (admin) => {
      await sql`select pg_terminate_backend(${rows[0]?.pid}, 5000)`.execute(admin)
    })
    return await connection.executeQuery(copy('1\n')).then(
      () => 'copied',
      (error: unknown) => error,
    )
  })
  expect(failure).toMatchObject({ code: expect.stringMatching(/^db\.(unreachable|refused)$/) })
  expect(await countOf()).toBe(0)
})
