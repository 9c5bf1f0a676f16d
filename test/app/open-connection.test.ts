import { expect, test } from 'vitest'
import { withKnownListParams } from '../../src/app/open-connection.ts'
import { readServiceSettings, readSettings } from '../../src/config.ts'
import { startRun } from '../../src/ledger/runs.ts'
import { keepSourceFacts } from '../../src/ledger/source.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

test('the place that a probe found is tried first, unless an operator has named one', async () => {
  await using database = await createTestDatabase()
  const placeOf = async (settings: Readonly<Record<string, string>> = {}) => {
    const environment = { LIVEHOUSE_BASE_URL: 'http://127.0.0.1:9', LIVEHOUSE_API_TOKEN: 't', ...settings }
    return (await withKnownListParams(readSettings(environment, readServiceSettings), database.db)).listParams
  }
  expect(await placeOf()).toBe('query')
  const now = new Date()
  const runId = await startRun(database.db, { command: 'probe', settings: {}, startedAt: now })
  const fact = { topic: 'list_params', subject: 'managers', answer: 'body', evidence: 'asked for 3, came 3' } as const
  await keepSourceFacts(database.db, [fact], { runId, foundAt: now })
  expect(await placeOf()).toBe('body')
  expect(await placeOf({ LIVEHOUSE_LIST_PARAMS: 'query' })).toBe('query')
})
