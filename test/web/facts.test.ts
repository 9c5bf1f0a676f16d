import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLog } from '../../src/core/log.ts'
import { createExpectations, standingOf } from '../../src/web/verdict.ts'
import { claimSource } from '../../src/ledger/source.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { startPipeline, type TestPipeline, TIME_ZONE } from '../helpers/start-pipeline.ts'
import { collectFacts, createFactsSource, type FactsDeps } from '../../src/web/facts.ts'

let pipeline: TestPipeline
beforeAll(async () => {
  pipeline = await startPipeline()
  await claimSource(pipeline.database.db, { baseUrl: 'http://a', appId: null, timeZone: TIME_ZONE })
  await pipeline.sync()
})
afterAll(() => pipeline[Symbol.asyncDispose]())

const deps = (): FactsDeps => ({
  db: pipeline.database.db,
  clock: { now: () => pipeline.clock.nowMs, sleep: async () => {} },
  log: silentLog,
  budget: { v1Budget: 10, v1BudgetScope: 'account' },
  readJobs: async () => [],
})

const collect = async () => await collectFacts(deps())

test('after a sync all streams are there with their proofs, and the night is complete', async () => {
  const facts = await collect()
  const found = facts.units.map(({ stream, channelId, partitions, proofs }) => ({
    stream,
    channelId,
    partitions,
    proofs,
  }))
  const [first] = pipeline.emulator.channelIds
  expect(found).toContainEqual({ stream: 'visitors', channelId: first, partitions: 1, proofs: { verified: 1 } })
  expect(found).toContainEqual({ stream: 'gifts', channelId: first, partitions: 2, proofs: { unverifiable: 2 } })
  expect(found).toContainEqual({ stream: 'managers', channelId: null, partitions: 1, proofs: { verified: 1 } })
  expect(facts.units.filter(({ isWindowed }) => isWindowed).map(({ stream }) => stream)).toContain('signups')
  expect(facts.open).toEqual([])
  expect(facts.sizes.get('visitors')).toEqual({ rows: 120, isExact: true })
  expect(facts.budget).toMatchObject({ budget: 10, scope: 'account', scopes: [{ left: 10 }] })
  // Settled five minutes before the run began, at 14:30 in Shanghai.
  const { until } = standingOf(facts.units, createExpectations(facts))
  expect(until).toBe(Date.UTC(2026, 10, 20, 14, 25) / 1000)
})

test('an outage that took 10 s to show is over on the page 3 s after it is over', async () => {
  let isAway = true
  const clock = createFakeClock()
  const readFacts = createFactsSource({
    ...deps(),
    clock,
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
