import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { executeTogether } from '../../src/ledger/slices.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => await database[Symbol.asyncDispose]())

const seen = (partition: string, runId: number) => sql`
  insert into livehouse_ops.missed_rows values ('gifts', ${partition}, 'k', ${new Date()}, ${runId})`
const runs = async () => {
  const { rows } = await sql<{ partition: string; run_id: string }>`
    select partition, run_id from livehouse_ops.missed_rows order by 1`.execute(database.db)
  return rows.map((row) => [row.partition, Number(row.run_id)])
}

test('all are executed, with values of their own', async () => {
  await executeTogether(database.db, [seen('channel=1', 10), seen('channel=2', 20)])
  expect(await runs()).toEqual([
    ['channel=1', 10],
    ['channel=2', 20],
  ])
})

test('where one fails, none has been', async () => {
  const failing = sql`insert into livehouse_ops.headers (partition) values ('a')`
  await expect(executeTogether(database.db, [seen('channel=3', 11), failing])).rejects.toThrow('title')
  expect(await runs()).toHaveLength(2)
})
