import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { executeTogether } from '../../src/state/execute-together.ts'
import { walkMarkEntry } from '../../src/state/walk-marks.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => await database[Symbol.asyncDispose]())

const markOf = (partition: string, total: number) => {
  const walk = { stream: 'visitors', partition, total, firstPage: 'x', walkedAt: new Date(), runId: '1' } as const
  return walkMarkEntry(database.db, walk)
}
const totals = async () => {
  const { rows } = await sql<{ partition: string; total: string }>`
    select partition, total from livehouse_ops.walk_marks order by 1`.execute(database.db)
  return rows.map(({ partition, total }) => [partition, Number(total)])
}

test('all are executed, with values of their own', async () => {
  await executeTogether(database.db, [markOf('channel=1', 10), markOf('channel=2', 20)])
  expect(await totals()).toEqual([
    ['channel=1', 10],
    ['channel=2', 20],
  ])
})

test('where one fails, none has been', async () => {
  const failing = sql`insert into livehouse_ops.walk_marks (stream) values ('visitors')`
  await expect(executeTogether(database.db, [markOf('channel=1', 11), failing])).rejects.toThrow('partition')
  expect(await totals()).toContainEqual(['channel=1', 10])
})
