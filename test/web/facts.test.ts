import { expect, test } from 'vitest'
import { createFactsSource } from '../../src/web/facts.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { silentLog } from '../helpers/silent-log.ts'

test('an outage that took 10 s to show is over on the page 3 s after it is over', async () => {
  await using database = await createTestDatabase()
  let isAway = true
  const clock = createFakeClock()
  const readFacts = createFactsSource({
    db: database.db,
    clock,
    log: silentLog,
    budget: { v1Budget: 10, v1BudgetScope: 'account' },
    readJobs: async () => {
      if (!isAway) return []
      clock.nowMs += 10_000
      throw new Error('connect ETIMEDOUT')
    },
  })
  expect(await readFacts()).toMatchObject({
    facts: undefined,
    failure: { error: { message: 'connect ETIMEDOUT' }, sinceMs: clock.nowMs - 10_000 },
  })
  isAway = false
  await clock.runTo(clock.nowMs + 3000)
  expect(await readFacts()).toMatchObject({ facts: { open: [] }, failure: undefined })
})
