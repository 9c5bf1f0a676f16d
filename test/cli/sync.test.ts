import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { FIXED_NOW } from '../helpers/emulated-service.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'
import { silentLog } from '../helpers/silent-log.ts'

const HOUR_MS = 3_600_000

test('--until begins nothing after that time; the next sync reads the rest, and shows what it is doing', async () => {
  await using database = await createTestDatabase()
  const time = { nowMs: FIXED_NOW }
  const clock = { now: () => time.nowMs, sleep: async () => {} }
  const serviceClock = { now: () => FIXED_NOW, sleep: async () => {} }
  await using emulator = await startEmulator({ channels: 2, viewers: 20, clock: serviceClock })
  const environment = { ...environmentOf(emulator, database), LIVEHOUSE_CONCURRENCY: '1' }
  // It is 14:30 in Shanghai; when the first slice has ended it is 15:30, and another one is under way.
  const debug = (event: string) => void (event === 'slice.ended' && (time.nowMs = FIXED_NOW + HOUR_MS))
  const log = { ...silentLog, debug }

  const stopped = await runVerb(sync, ['--until', '15:00', '--json'], { environment, clock, log: log })
  expect(stopped.code).toBe(4)
  const outcome: unknown = JSON.parse(stopped.printed.join(''))
  expect(outcome).toMatchObject({ status: 'waiting', resumes_at: null, errors: [] })
  expect(outcome).toMatchObject({ streams: { visitors: { slices: { verified: 2, failed: 0 } }, gifts: { calls: 0 } } })

  time.nowMs = FIXED_NOW
  const openings: (string | undefined)[] = []
  const openProgress = async (opening?: string) => {
    openings.push(opening)
    return { report: () => {}, [Symbol.dispose]: () => {} }
  }
  expect(await runVerb(sync, ['--until', '15:00'], { environment, clock, openProgress })).toMatchObject({ code: 0 })
  expect(openings).toEqual(['opening database', undefined, 'updating figures'])
  await expectTruth({ emulator, database })
})

test.each([
  ['06:00', '2026-03-28T21:00Z', '2026-03-29T04:30Z', 4],
  ['06:00', '2026-10-24T20:00Z', '2026-10-25T04:30Z', 0],
  ['02:30', '2026-03-28T21:00Z', '2026-03-29T01:10Z', 0],
])('--until %s is a wall-clock time, also if clocks change after %s', async (until, start, later, code) => {
  await using database = await createTestDatabase()
  const time = { nowMs: Date.parse(start) }
  const clock = { now: () => time.nowMs, sleep: async () => {} }
  await using emulator = await startEmulator({ channels: 1, viewers: 1, timeZone: 'Europe/Berlin', clock })
  const environment = { ...environmentOf(emulator, database), LIVEHOUSE_TIMEZONE: 'Europe/Berlin' }
  const debug = (event: string) => void (event === 'slice.ended' && (time.nowMs = Date.parse(later)))
  const options = { environment: { ...environment, LIVEHOUSE_CONCURRENCY: '1' }, clock, log: { ...silentLog, debug } }
  expect(await runVerb(sync, ['--until', until], options)).toMatchObject({ code })
})

test('a history that begins years from now is refused before any call', async () => {
  await using emulator = await startEmulator({ channels: 1, viewers: 1 })
  const environment = { ...environmentOf(emulator, { url: 'embedded' }), LIVEHOUSE_HISTORY_FROM: '2062-01-01' }
  const run = await runVerb(sync, ['--json'], { environment })
  expect(run.problems).toEqual([expect.stringContaining('LIVEHOUSE_HISTORY_FROM is "2062-01-01"; it should be a day')])
  expect(emulator.calls).toEqual([])
})
