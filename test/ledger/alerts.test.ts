import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Cause } from '../../src/core/cause.ts'
import { type ClaimedNotice, claimNotices, markSent, recordCauses, releaseNotices } from '../../src/ledger/alerts.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

const gone: Cause = { kind: 'channelGone', channel: '9' }
const field: Cause = { kind: 'unknownField', stream: 'visitors', field: 'vip' }
const stale: Cause = { kind: 'stale', job: 'nightly', stream: 'gifts', provenBy: '07:00', provenAt: null }
const kinds = ['channelGone', 'unknownField', 'run'] as const
const HOLD_MS = 60_000
let database: TestDatabase
let nowMs = 0

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
})
beforeEach(async () => {
  nowMs = Date.UTC(2026, 10, 20)
  await database.db.deleteFrom('livehouse_ops.alerts').execute()
})

const now = () => new Date(nowMs)
const record = (...causes: Cause[]) => recordCauses(database.db, { kinds }, async () => causes, now())
const claim = () => claimNotices(database.db, now(), HOLD_MS)
const told = (notices: readonly ClaimedNotice[]) =>
  notices.map(({ event, cause }) => [event, cause.kind === 'channelGone' ? cause.channel : cause.kind].join(' '))

/** Takes what is due and sends it. */
async function send(): Promise<readonly string[]> {
  const notices = await claim()
  await markSent(database.db, notices, now())
  return told(notices)
}

test('a cause is told once, and once more when it is over', async () => {
  await record(gone)
  expect(await send()).toEqual(['raised 9'])
  await record(gone)
  expect(await send()).toEqual([])
  await record()
  expect(await send()).toEqual(['cleared 9'])
  await record()
  expect(await send()).toEqual([])
  await record(gone)
  expect(await send()).toEqual(['raised 9'])
})

test('what is over before anybody heard of it is not told', async () => {
  await record(gone)
  await record()
  expect(await send()).toEqual([])
})

test('a discovered field is told once and never over', async () => {
  await record(field)
  expect(await send()).toEqual(['raised unknownField'])
  await record()
  expect(await send()).toEqual([])
  await record(field)
  expect(await send()).toEqual([])
})

test('causes of kinds that were not looked at stay', async () => {
  const recordStale = (mine: readonly string[], served: readonly string[], ...causes: Cause[]) =>
    recordCauses(database.db, { kinds: ['stale'], jobs: { mine, served } }, async () => causes, now())
  await recordStale(['nightly'], ['nightly'], stale)
  await send()
  await record()
  expect(await send()).toEqual([])
  // Another process serves another job: it says nothing of this one.
  await recordStale(['hourly'], ['hourly', 'nightly'])
  expect(await send()).toEqual([])
  await recordStale(['nightly'], ['hourly', 'nightly'])
  expect(await send()).toEqual(['cleared stale'])
  await recordStale(['nightly'], ['nightly'], stale)
  await send()
  // Nobody serves it any more.
  await recordStale(['hourly'], ['hourly'])
  expect(await send()).toEqual(['cleared stale'])
})

test('of two that send at once each takes something else, and what a dead one held is due again', async () => {
  await record(gone, field)
  const claims = await Promise.all([claim(), claim(), claim()])
  expect(claims.flatMap(told).toSorted()).toEqual(['raised 9', 'raised unknownField'])
  expect(await claim()).toEqual([])
  nowMs += HOLD_MS
  expect(told(await claim())).toEqual(['raised 9', 'raised unknownField'])
})

test('what could not be sent is due again', async () => {
  await record(gone)
  await releaseNotices(database.db, await claim(), null)
  expect(await send()).toEqual(['raised 9'])
})

test('what may have arrived late is not due before its time', async () => {
  await record(gone)
  await releaseNotices(database.db, await claim(), new Date(nowMs + HOLD_MS))
  expect(await send()).toEqual([])
  nowMs += HOLD_MS
  expect(await send()).toEqual(['raised 9'])
})

test('a look that began earlier is never written after a later one', async () => {
  const { db } = database
  let isGone = true
  const seen = Promise.withResolvers<void>()
  const look = async (before?: Promise<void>) => {
    const read = async () => {
      const causes = isGone ? [gone] : []
      seen.resolve()
      await before
      return causes
    }
    await recordCauses(db, { kinds }, read, now())
  }
  const gate = Promise.withResolvers<void>()
  const early = look(gate.promise)
  await seen.promise
  isGone = false
  const late = look()
  gate.resolve()
  await Promise.all([early, late])
  expect(await send()).toEqual([])
  await look()
  expect(await send()).toEqual([])
  const open = await db.selectFrom('livehouse_ops.alerts').select('cause').where('cleared_at', 'is', null).execute()
  expect(open).toEqual([])
})

test('what may have gone out is told to be over, also when nobody knows whether it did', async () => {
  await record(gone)
  expect(told(await claim())).toEqual(['raised 9'])
  // Who sent it died. Meanwhile it is over.
  await record()
  expect(await send()).toEqual([])
  nowMs += HOLD_MS
  expect(await send()).toEqual(['cleared 9'])
  expect(await send()).toEqual([])
})

test('the message has the facts of now', async () => {
  const run = (status: 'partial' | 'failed'): Cause => ({ kind: 'run', name: 'sync', runId: '1', status, problems: [] })
  await record(run('partial'))
  await record(run('failed'))
  expect(await claim()).toMatchObject([{ cause: { status: 'failed' }, at: now() }])
})
