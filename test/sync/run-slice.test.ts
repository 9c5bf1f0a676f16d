import { type KyselyPlugin, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runSlice } from '../../src/sync/run-slice.ts'
import type { Slice } from '../../src/sync/slice-work.ts'
import { startRun } from '../../src/ledger/runs.ts'
import { visitors } from '../../src/streams/visitors.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'
import { scriptedDeps } from '../helpers/scripted-deps.ts'
import { pageOf, scriptPages } from '../helpers/scripted-pages.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => await database[Symbol.asyncDispose]())

type Answer = readonly [total: number, ...ids: string[]]

/** Reads a channel's visitors, two a page, from answers in the order in which they are asked for. */
async function readWalk(channel: string, answers: readonly Answer[], plugins: readonly KyselyPlugin[] = []) {
  const { fetchPage } = scriptPages((_, call) => {
    const [total, ...ids] = answers[call - 1] ?? [0]
    const items = ids.map((id) => ({ user_id: id }))
    return pageOf(items, { total })
  })
  const runId = await startRun(database.db, { command: 'sync', settings: {}, startedAt: new Date() })
  const db = plugins.reduce((known, plugin) => known.withPlugin(plugin), database.db)
  const stream = { ...visitors, pageSize: 2 }
  const slice: Slice = { stream, partition: { channel }, window: undefined, covers: undefined }
  return await runSlice(slice, { ...scriptedDeps(fetchPage), db, runId })
}

const removedOf = async (channel: string) => {
  const { rows } = await sql<{ user_id: string }>`
    select user_id from livehouse.visitors where channel_id = ${channel} and removed_at is not null`.execute(
    database.db,
  )
  return rows.map(({ user_id }) => user_id)
}

test('what the first walk over a list brought and the second did not is missed from then on', async () => {
  const moves: readonly Answer[] = [[3, 'gone', 'a'], [2, 'b'], [2, 'a', 'b'], [2]]
  expect(await readWalk('1', moves)).toMatchObject({ proof: 'verified', counts: { inserted: 3, removed: 0 } })
  expect(await removedOf('1')).toEqual([])
  expect(await readWalk('1', [[2, 'a', 'b'], [2]])).toMatchObject({ proof: 'verified', counts: { removed: 1 } })
  expect(await removedOf('1')).toEqual(['gone'])
})

test('a small list that is new takes four statements', async () => {
  let statements = 0
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      statements += 1
      return result
    },
  }
  expect(await readWalk('2', [[1, 'a']], [counting])).toMatchObject({ proof: 'verified', counts: { inserted: 1 } })
  expect(statements).toBe(4)
  const { rows } = await sql`select from livehouse_ops.slices where partition = 'channel=2'`.execute(database.db)
  expect(rows).toHaveLength(1)
})
