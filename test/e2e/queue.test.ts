import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import { run } from '../../src/cli/run.ts'
import { status } from '../../src/cli/status.ts'
import { sync } from '../../src/cli/sync.ts'
import { systemClock } from '../../src/core/clock.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { hang } from '../helpers/fault-effects.ts'
import { ofFile, ofTest } from '../helpers/of-file.ts'
import { untilExpired, untilRow } from '../helpers/own-locks.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { heldPartitions, startQueueAccount, stop } from '../helpers/queue-account.ts'
import { environmentOf } from '../helpers/run-verb.ts'
import { type Child, startChild } from '../helpers/start-child.ts'
import { createJobsFolder } from '../helpers/temporary-folder.ts'
import { clampedTo } from '../helpers/worlds/add-odd-rows.ts'

const account = ofTest(startQueueAccount)

/** Starts a run on a worker, which gets no answer before `letGo`. */
async function beginRun() {
  const { asked, releaseLists: letGo } = account.holdLists()
  const worker = await account.startWorker()
  const running = account.sync()
  await asked
  await untilRow(account.database.db, heldPartitions)
  return { worker, running, letGo }
}

const untilNoneHeld = async () => await untilRow(account.database.db, sql`select where not exists (${heldPartitions})`)

async function countActive(name: string): Promise<number> {
  const active = sql`select from pgboss.job where state = 'active' and singleton_key like ${name}`
  return (await active.execute(account.database.db)).rows.length
}

test('two workers share a run, which is recorded and reported like any other', async () => {
  const workers = [await account.startWorker(), await account.startWorker()]
  const { code, outcome } = await account.sync()
  expect([code, outcome.status, outcome.errors]).toEqual([0, 'ok', []])
  await expectTruth(account)
  expect(await account.readRuns()).toEqual(['sync ok'])
  for (const worker of workers) await stop(worker)

  const spent = { settings: { LIVEHOUSE_V1_BUDGET: '0' } }
  expect(await account.sync(['--streams', 'watch_records_v1'], spent)).toMatchObject({ code: 4 })
  // The same sync in one process finds nothing new, and its report has the same fields.
  const again = JSON.parse((await account.run(sync, ['--json'])).printed.join('\n'))
  expect(Object.keys(outcome)).toEqual(Object.keys(again))
  for (const [name, { extracted, slices }] of Object.entries<{ extracted: number; slices: object }>(outcome.streams)) {
    expect(again.streams[name], name).toMatchObject({ inserted: 0, updated: 0 })
    expect(Object.keys(slices)).toEqual(Object.keys(again.streams[name].slices))
    expect(extracted, name).toBeGreaterThanOrEqual(account.emulator.truth()[name]?.length ?? 0)
  }
})

test('a job that serve holds is shared with a worker, and recorded as one run', async () => {
  const folder = createJobsFolder({ nightly: `export default { cron: '0 0 1 1 *' }` })
  await sql`insert into livehouse_ops.jobs (job, cron, time_zone, is_enabled, since)
    values ('nightly', '0 0 1 1 *', 'Asia/Shanghai', true, '2025-12-01')`.execute(account.database.db)
  const worker = await account.startWorker()
  const serve = startChild(['serve'], { ...account.environment, LIVEHOUSE_JOBS_DIR: folder, LIVEHOUSE_HTTP: 'off' })
  await serve.untilOutput('"job.ended"')
  await expectTruth(account)
  expect(await account.readRuns()).toEqual(['run nightly ok'])
  for (const child of [serve, worker]) await stop(child)
})

test('a worker that gets SIGTERM releases the partitions that it was reading', async () => {
  const { worker, running, letGo } = await beginRun()
  await stop(worker)
  letGo()
  const second = await account.startWorker()
  expect(await running).toMatchObject({ code: 0, outcome: { status: 'ok' } })
  await expectTruth(account)
  await stop(second)
})

test('of a sync and a backfill in one worker, one waits while the other holds the partition', async () => {
  const { asked, releaseLists: letGo } = account.holdLists()
  const { emulator, database } = account
  const worker = await account.startWorker({ LIVEHOUSE_REQUEST_TIMEOUT: '2' })
  const flags = ['--streams', 'watch_records', '--channels', emulator.channelIds[0] ?? '']
  const filling = account.run(backfill, ['--queue', '--from', '2026-01-01', ...flags])
  await asked
  const readLease = async () =>
    await sql<{ epoch: string; wanted: Date | null }>`select epoch, wanted_until as wanted from livehouse_ops.leases
      where name like 'partition %'`.execute(database.db)
  const { rows: begun } = await readLease()
  const running = account.sync(flags)
  const refused = (after: Date) => sql`select from livehouse_ops.leases where wanted_until > ${after}`
  await untilRow(database.db, refused(new Date(0)))
  const { rows: wanted } = await readLease()
  await untilRow(database.db, refused(wanted[0]?.wanted ?? new Date(0)))
  const { rows: held } = await readLease()
  expect(held.map(({ epoch }) => epoch)).toEqual(begun.map(({ epoch }) => epoch))
  letGo()
  expect([(await running).code, (await filling).code]).toEqual([0, 0])
  await stop(worker)
})

test.each([
  ['a backfill of all channels', 8, 2],
  ['a sync of another channel', 4, 1],
])('the partitions of a sync do not wait for those that %s has queued before', async (what, queuedBefore, queued) => {
  const { releaseLists: letGo } = account.holdLists()
  const [first = '', second = ''] = account.emulator.channelIds
  const isBackfill = what.startsWith('a backfill')
  const earlier = isBackfill
    ? account.run(backfill, ['--queue', '--from', '2026-01-01', '--streams', 'watch_records,gifts,signups'])
    : account.sync(['--channels', first, '--streams', 'visitors,watch_records,gifts'])
  await account.untilQueued('created', queuedBefore)
  const running = account.sync(['--streams', 'visitors', ...(isBackfill ? [] : ['--channels', second])])
  await account.untilQueued('created', queuedBefore + queued)
  const worker = await account.startWorker({ LIVEHOUSE_REQUEST_TIMEOUT: '2' })
  await account.untilQueued('active', 3)
  expect(await countActive(isBackfill ? 'visitors %' : `visitors channel=${second}`)).toBe(queued)
  letGo()
  expect([(await running).code, (await earlier).code]).toEqual([0, 0])
  await stop(worker)
})

// In one process lists share the pages that are requested ahead; where these are many, processes take turns.
test.each([
  [1, '4'],
  [2, '100'],
])('a long list does not hold up a short one, in %d workers of %s calls at once', async (count, concurrency) => {
  const [long = '', short = ''] = account.emulator.channelIds
  for (const [id, pages] of [[long, 100] as const, [short, 10] as const]) {
    const visitors = account.emulator.world.channels.get(id)?.visitors
    const [some] = visitors?.rows ?? []
    if (some) visitors?.add(...Array.from({ length: 10 * pages }, (_, at) => ({ ...some, userId: `${id} ${at}` })))
  }
  account.emulator.faults.push({ effect: clampedTo(10) })
  const settings = { LIVEHOUSE_MAX_CALLS_PER_SECOND: '20', LIVEHOUSE_CONCURRENCY: concurrency }
  const workers = await Promise.all(Array.from({ length: count }, () => account.startWorker(settings)))
  expect(await account.sync(['--streams', 'visitors'], { settings })).toMatchObject({ code: 0 })
  const channels = account.emulator.calls.flatMap(({ channelId = '', page }) => (page === undefined ? [] : [channelId]))
  expect(channels.slice(0, channels.lastIndexOf(short)).filter((id) => id === long).length).toBeLessThan(80)
  for (const worker of workers) await stop(worker)
})

test('a run that is cancelled from another process, or interrupted, stops its workers', async () => {
  const { worker, running, letGo } = await beginRun()
  const cancel = async () => await account.run(run, ['--cancel', '1'])
  expect(await cancel()).toMatchObject({ code: 0, printed: ['run 1 ends within seconds'] })
  const message = expect.stringContaining('run 1 was cancelled')
  expect(await running).toMatchObject({ code: 3, outcome: { errors: [{ code: 'run.interrupted', message }] } })
  await untilNoneHeld()
  expect(await cancel()).toMatchObject({ code: 1, printed: ['run 1 is not under way: nothing was done'] })

  const stopping = new AbortController()
  const interrupted = account.sync([], { signal: stopping.signal })
  await untilRow(account.database.db, heldPartitions)
  stopping.abort(new LivehouseError('run.interrupted', 'interrupted by SIGINT', { signal: 'SIGINT' }))
  expect((await interrupted).outcome).toMatchObject({ status: 'partial', errors: [{ code: 'run.interrupted' }] })
  await untilNoneHeld()
  letGo()
  expect(await account.sync()).toMatchObject({ code: 0 })
  await expectTruth(account)
  expect(await account.readRuns()).toEqual(['sync partial', 'sync partial', 'sync ok'])
  await stop(worker)
})

test('workers stop reading for a run whose process has died', async () => {
  const { asked, releaseLists: letGo } = account.holdLists()
  const worker = await account.startWorker()
  const asking = startChild(['sync', '--queue'], account.environment)
  await asked
  asking.process.kill('SIGKILL')
  await asking.ended
  await sql`update livehouse_ops.leases set expires_at = now() where name like 'run %'`.execute(account.database.db)
  await untilNoneHeld()
  const calls = account.emulator.calls.length
  letGo()
  const open = sql`select from pgboss.job where name = 'partitions' and state in ('created', 'retry', 'active')`
  await untilRow(account.database.db, sql`select where not exists (${open})`)
  expect(account.emulator.calls).toHaveLength(calls)
  expect((await account.run(status)).printed.join('\n')).toContain('interrupted')
  await stop(worker)
})

const database = ofFile(createTestDatabase)
const emulator = ofFile(() => startEmulator({ channels: 1, viewers: 20 }))

// A job file can import livehouse and use types even in a folder that is not livehouse's.
const lists = `import { defineJob } from 'livehouse'
  const streams: readonly ['managers', 'questionnaires'] = ['managers', 'questionnaires']
  export default defineJob({ cron: '0 0 1 1 *', streams })`
const jobs = createJobsFolder({ lists })

const settings = { LIVEHOUSE_JOBS_DIR: jobs, LIVEHOUSE_HTTP: '127.0.0.1:0', LOG_LEVEL: 'info' }
const startServe = () => startChild(['serve'], { ...environmentOf(emulator, database), ...settings })

const readRun = async () => {
  const runs = database.db.selectFrom('livehouse_ops.job_runs').select(['status', 'outcome', 'attempts'])
  return await runs.executeTakeFirstOrThrow()
}

/** Waits for a job to begin, but neither for the time of its next attempt nor for a dead worker to be noticed. */
const untilBegun = async (child: Child) => {
  const later = sql`update pgboss.job set start_after = now(), heartbeat_on = now() - interval '1 hour'
    where name = 'runs' and heartbeat_on < now() - interval '10 s' or state = 'retry'`
  const begun = child.untilOutput('"job.started"').then(() => true)
  while (!(await Promise.race([begun, systemClock.sleep(100).then(() => false)]))) await later.execute(database.db)
}

test('serve ends with 143 on SIGTERM though an answer never comes; interrupted and killed jobs restart', async () => {
  // It was served before this year began, and not since then.
  await sql`insert into livehouse_ops.jobs (job, cron, time_zone, is_enabled, since)
    values ('lists', '0 0 1 1 *', 'Asia/Shanghai', true, '2025-12-01')`.execute(database.db)
  emulator.faults.push({ effect: hang() })

  const first = startServe()
  await first.untilOutput('"job.started"')
  first.process.kill('SIGTERM')
  expect(await first.ended).toMatchObject({ code: 143 })
  expect(await readRun()).toEqual({ status: 'interrupted', outcome: null, attempts: 1 })

  const second = startServe()
  await untilBegun(second)
  second.process.kill('SIGKILL')
  await second.ended
  await untilExpired(database.db)
  expect(await readRun()).toEqual({ status: 'running', outcome: null, attempts: 2 })

  emulator.faults.length = 0
  const third = startServe()
  await untilBegun(third)
  await third.untilOutput('"job.ended"')
  expect(await readRun()).toEqual({ status: 'ended', outcome: 'ok', attempts: 3 })
  third.process.kill('SIGINT')
  const nextYear = new Date(systemClock.now() + 8 * 3_600_000).getUTCFullYear() + 1
  const error = expect.stringContaining(`lists: next at ${nextYear}-01-01 00:00 Asia/Shanghai`)
  expect(await third.ended).toMatchObject({ code: 130, error })
})
