import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import { sync } from '../../src/cli/sync.ts'
import { systemClock } from '../../src/core/clock.ts'
import { formatWallDate, wallTimeAt } from '../../src/core/wall-clock.ts'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
import { Leases } from '../../src/ledger/leases/leases.ts'
import { FIXED_NOW } from '../helpers/emulated-service.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { startAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/add-odd-rows.ts'

const dayBefore = (days: number) => formatWallDate(wallTimeAt(FIXED_NOW, 'Asia/Shanghai') - days * 86_400)
const RANGE = ['--from', dayBefore(20), '--to', dayBefore(10)]

const recordCalls = ({ calls }: Emulator) => calls.filter(({ endpoint }) => endpoint === 'userRecordList')

test('a backfill repairs rows in its range only; with --only-gaps it requests nothing that is covered', async () => {
  await using world = await startAccount()
  await world.run(sync)
  const calls = recordCalls(world.emulator).length
  expect(await world.run(backfill, [...RANGE, '--streams', 'watch_records', '--only-gaps'])).toMatchObject({ code: 0 })
  expect(recordCalls(world.emulator)).toHaveLength(calls)
  const { db } = world.database
  await sql`update livehouse.watch_records set nickname = 'by hand'`.execute(db)
  expect(await world.run(backfill, [...RANGE, '--streams', 'watch_records'])).toMatchObject({ code: 0 })
  const { rows } = await sql<{ inside: boolean; altered: boolean }>`
    with local as (select entered_at at time zone 'Asia/Shanghai' as at, nickname from livehouse.watch_records)
    select at >= ${dayBefore(20)}::timestamp and at < ${dayBefore(10)}::timestamp as inside, nickname = 'by hand' as altered
    from local where abs(extract(epoch from at - ${dayBefore(20)}::timestamp)) > 120
      and abs(extract(epoch from at - ${dayBefore(10)}::timestamp)) > 120`.execute(db)
  expect(rows.some(({ inside }) => inside)).toBe(true)
  expect(rows.filter(({ inside, altered }) => inside === altered)).toEqual([])
})

test('an interrupted backfill resumes without repeating landed slices, and a finished one reads again', async () => {
  await using world = await startAccount()
  await world.run(sync)
  const before = recordCalls(world.emulator).length
  const controller = new AbortController()
  const [, second = ''] = world.emulator.channelIds
  world.emulator.faults.push({
    effect: { name: 'interrupt', query: (query) => (controller.abort(new Error('stop')), query) },
    endpoint: 'userRecordList',
    channelId: second,
  })
  const streams = ['--streams', 'watch_records']
  await world.run(backfill, [...RANGE, ...streams], {}, { signal: controller.signal })
  world.emulator.faults.length = 0
  const landed = await sql<{ partition: string }>`
    select partition from livehouse_ops.slices
    where backfill_id is not null and status = 'landed'`.execute(world.database.db)
  const atInterruption = recordCalls(world.emulator).length
  const resumed = await world.run(backfill, [...RANGE, ...streams])
  expect(resumed).toMatchObject({ code: 0 })
  expect(resumed.remarks.join()).toContain('resumes the backfill')
  const repeated = recordCalls(world.emulator)
    .slice(atInterruption)
    .filter(({ channelId }) => landed.rows.some(({ partition }) => partition === `channel=${channelId}`))
  expect(repeated).toEqual([])

  const nextRun = await world.run(backfill, [...RANGE, ...streams])
  expect(nextRun).toMatchObject({ code: 0 })
  expect(nextRun.remarks.join()).not.toContain('resumes')
  expect(recordCalls(world.emulator).length).toBeGreaterThan(before + 2)
})

test("without --to it reads up to now; what exceeds a day's calls of version 1 is resumed the next day", async () => {
  await using world = await startAccount()
  expect(await world.run(backfill, ['--from', dayBefore(2), '--streams', 'watch_records'])).toMatchObject({ code: 0 })
  expect(recordCalls(world.emulator).map(({ params }) => params.end_time)).toContain('2026-11-20 14:31:00')
  const argv = ['--from', '2018-01-01', '--streams', 'watch_records_v1']
  expect(await world.run(backfill, argv, { LIVEHOUSE_V1_BUDGET: '1' })).toMatchObject({ code: 4 })
  world.clock.nowMs += 86_400_000
  const { remarks } = await world.run(backfill, argv, { LIVEHOUSE_V1_BUDGET: '1' })
  expect(remarks.join()).toContain('resumes the backfill')
})

test('a sync that meets a backfill goes first, and the backfill goes on after it', async () => {
  await using database = await createTestDatabase()
  // After its first slice, the backfill gets no second page until the sync wants its lease.
  const firstSliceEnded = Promise.withResolvers<void>()
  let leaseWanted: Promise<unknown> | undefined
  const leases = sql`select from livehouse_ops.leases where wanted_until is not null`
  const isWanted = async () => (await leases.execute(database.db)).rows.length > 0
  const clock = { now: () => FIXED_NOW, sleep: async () => void (await leaseWanted) }
  await using emulator = await startEmulator({ channels: 1, viewers: 5000, clock, conditions: { deepPageMs: 1 } })
  emulator.faults.push({ effect: clampedTo(10) })
  const environment = { ...environmentOf(emulator, database), LIVEHOUSE_CONCURRENCY: '1' }
  /** Which command's slices end, once for each turn. */
  const turns: string[] = []
  const run = async (verb: typeof sync, name: string, args: readonly string[], onEnd = () => {}) => {
    const debug = (event: string) => {
      if (event !== 'slice.ended') return
      if (turns.at(-1) !== name) turns.push(name)
      onEnd()
    }
    return await runVerb(verb, args, { environment, clock: systemClock, log: { ...silentLog, debug } })
  }
  const streams = ['--streams', 'watch_records']

  const backfilling = run(backfill, 'backfill', ['--from', dayBefore(40), '--to', dayBefore(0), ...streams], () => {
    leaseWanted ??= vi.waitUntil(isWanted, { timeout: 200_000 })
    firstSliceEnded.resolve()
  })
  await firstSliceEnded.promise
  const syncing = run(sync, 'sync', streams)

  expect(await Promise.all([backfilling, syncing])).toMatchObject([{ code: 0 }, { code: 0 }])
  expect(turns).toEqual(['backfill', 'sync', 'backfill'])
  await expectTruth({ emulator, database }, ['watch_records'])
})

test('a partition that another run holds for longer than half an hour is an error', async () => {
  await using account = await startAccount({ channels: 1, viewers: 5 })
  await using other = new Leases(account.database.db)
  await other.tryTake('partition managers account')
  expect(await account.sync('managers')).toMatchObject({ code: 3, errors: [{ code: 'slice.locked' }] })
})
