import { expect, test } from 'vitest'
import { recordAcceptance, takeAcceptance } from '../../src/ledger/acceptances.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { startRun } from '../../src/ledger/runs.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const now = new Date('2026-11-20T06:30:00Z')
const later = new Date('2026-12-20T06:30:00Z')
const window = (from: string, to: string) => ({ from: parseWallTime(from) ?? 0, to: parseWallTime(to) ?? 0 })

test('slices of one run take no more than was accepted, together and at once; the next run has all of it again', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  const newRun = async () => await startRun(db, { command: 'sync', settings: {}, startedAt: now })
  const march = window('2026-03-01', '2026-04-01')
  const shortfalls = [{ sliceId: '1', partition: 'channel=9', window: march, missingRows: 3, reason: null }]
  const whose = { stream: 'watch_records', channelId: '9' } as const
  await recordAcceptance(db, { ...whose, shortfalls, reason: 'x', acceptedAt: now, expiresAt: later, isKeyed: true })

  const runId = await newRun()
  const take = async (missingRows: number, over: Partial<Parameters<typeof takeAcceptance>[1]> = {}) =>
    await takeAcceptance(db, { ...whose, window: march, missingRows, runId, now, ...over })
  const taken = await Promise.all(Array.from({ length: 8 }, async () => await take(1)))
  expect(taken.filter((number) => number === '1')).toHaveLength(3)
  expect(await take(3, { runId: await newRun() })).toBe('1')

  const other = await newRun()
  const cases: readonly Parameters<typeof take>[] = [
    [4],
    [1, { stream: 'signups' }],
    [1, { channelId: '8' }],
    [1, { channelId: null }],
    [1, { window: undefined }],
    [1, { window: window('2026-04-01', '2026-05-01') }],
    [1, { now: later }],
  ]
  for (const [missingRows, over] of cases) expect(await take(missingRows, { runId: other, ...over })).toBeUndefined()
})
