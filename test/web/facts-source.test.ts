import { expect, test } from 'vitest'
import { silentLog } from '../../src/core/log.ts'
import { createFactsSource } from '../../src/web/facts-source.ts'
import { startRun } from '../../src/ledger/runs.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { movableClock } from '../helpers/status-server.ts'

test('many who ask are answered by one reading, and the next comes when the database has rested', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  const clock = movableClock()
  let readings = 0
  const source = createFactsSource({
    db,
    clock,
    log: silentLog,
    budget: { v1Budget: 10, v1BudgetScope: 'account' },
    // Each reading takes two seconds.
    readJobs: async () => {
      readings++
      clock.nowMs += 2000
      return []
    },
  })
  const answers = await Promise.all([source.read(), source.read(), source.read()])
  expect(readings).toBe(1)
  expect(new Set(answers.map(({ facts }) => facts)).size).toBe(1)

  await startRun(db, { command: 'sync', settings: {}, startedAt: new Date(clock.nowMs) })
  clock.nowMs += 39_000
  expect((await source.read()).facts?.runs).toHaveLength(0)
  expect(readings).toBe(1)
  clock.nowMs += 1000
  expect((await source.read()).facts?.runs).toHaveLength(1)
  expect(readings).toBe(2)

  // What has just changed is worth another reading sooner, but not at once.
  source.expire()
  await source.read()
  expect(readings).toBe(2)
  clock.nowMs += 2000
  await source.read()
  expect(readings).toBe(3)
})
