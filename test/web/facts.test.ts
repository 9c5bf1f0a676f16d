import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLog } from '../../src/core/log.ts'
import { DAY } from '../../src/core/wall-clock.ts'
import { html, missingRow } from '../helpers/fault-effects.ts'
import { judge } from '../../src/web/verdict.ts'
import { forgetCoverage } from '../../src/ledger/coverage.ts'
import { claimSource } from '../../src/ledger/source.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { startPipeline, type TestPipeline, TIME_ZONE } from '../helpers/start-pipeline.ts'
import { collectFacts, createFactsSource, type Facts, type FactsDeps } from '../../src/web/facts.ts'

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

async function collect(): Promise<Omit<Facts, 'watched'>> {
  return await collectFacts(deps())
}

const judged = async () => judge({ ...(await collect()), watched: undefined })

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
  expect(facts.walkDays).toContainEqual({ stream: 'visitors', day: '2026-11-20', landed: 2, failed: 0 })
  expect(facts.sizes.get('visitors')).toEqual({ rows: 120, isExact: true })
  expect(facts.budget).toMatchObject({ budget: 10, scope: 'account', scopes: [{ left: 10 }] })
  // Settled five minutes before the run began, at 14:30 in Shanghai.
  expect((await judged()).completeUntil).toBe(Date.UTC(2026, 10, 20, 14, 25) / 1000)
})

test('a night later it is late; a gap, a failed and a short reading are found until they are made good', async () => {
  const { db } = pipeline.database
  const [first = '', second = ''] = pipeline.emulator.channelIds
  pipeline.clock.nowMs += 30 * 3_600_000
  expect((await judged()).findings.map(({ kind }) => kind)).toEqual(Array.from({ length: 7 }, () => 'late'))

  const to = Date.UTC(2026, 10, 15) / 1000
  await forgetCoverage(db, { streams: ['gifts'], channels: [first], window: { from: to - DAY, to } })
  pipeline.emulator.faults.push({ effect: html(200), endpoint: 'userRecordList', channelId: second })
  for (let read = 0; read < 3; read++) {
    pipeline.emulator.faults.push({ effect: missingRow(), endpoint: 'visitorList', channelId: first })
  }
  await pipeline.sync({ streams: ['watch_records', 'visitors'] })
  const facts = await collect()
  const open = facts.open.map(({ kind, stream, partition, proof, window }) => ({
    kind,
    stream,
    partition,
    proof,
    window,
  }))
  expect(open).toContainEqual({
    kind: 'problem',
    stream: 'watch_records',
    partition: `channel=${second}`,
    proof: 'failed',
    window: expect.objectContaining({ to: expect.any(Number) }),
  })
  expect(open).toContainEqual({
    kind: 'problem',
    stream: 'visitors',
    partition: `channel=${first}`,
    proof: 'short',
    window: undefined,
  })
  const gap = { kind: 'gap', partition: `channel=${first}/type=cash`, window: { from: to - DAY, to }, proof: null }
  expect(open).toContainEqual({ stream: 'gifts', ...gap })
  expect((await judged()).findings.map(({ kind }) => kind)).toContain('gap')

  pipeline.emulator.faults.length = 0
  await pipeline.sync()
  expect((await collect()).open).toEqual([])
  expect((await judged()).findings).toEqual([])
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
  expect(await readFacts()).toMatchObject({ facts: undefined, error: { message: 'connect ETIMEDOUT' } })
  isAway = false
  await clock.runTo(clock.nowMs + 3000)
  expect(await readFacts()).toMatchObject({ facts: { open: [] }, error: undefined })
})
