import { writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { status } from '../../src/cli/status.ts'
import { sync } from '../../src/cli/sync.ts'
import { systemClock } from '../../src/core/clock.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import type { Answer } from '../../src/emulator/answer.ts'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
import { startEmbedded, stopEmbedded } from '../../src/store/embedded.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { createPassableFolder } from '../helpers/operating-system.ts'
import { untilRow } from '../helpers/own-locks.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'
import { type Child, startChild } from '../helpers/start-child.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

type Settings = Readonly<Record<string, string>>

const never = new AbortController().signal
let emulator: Emulator
let database: TestDatabase

beforeEach(async () => {
  emulator = await startEmulator({ channels: 2, viewers: 60 })
  database = await createTestDatabase()
})
afterEach(async () => {
  await emulator[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const environment = () => ({ ...environmentOf(emulator, database), LOG_LEVEL: 'info' })

async function startWorker(settings: Settings = {}): Promise<Child> {
  const child = startChild(['worker', '--concurrency', '3'], { ...environment(), ...settings })
  await child.hears('"worker.started"')
  return child
}

async function stop(child: Child): Promise<void> {
  child.process.kill('SIGTERM')
  expect(await child.ended).toMatchObject({ code: 143 })
}

/** `livehouse sync --queue --json` in this process. */
async function queueSync(flags: readonly string[] = [], signal = never, settings: Settings = {}) {
  const given = { environment: { ...environment(), ...settings }, clock: systemClock, signal }
  const { code, printed, error } = await runVerb(sync, ['--queue', '--json', ...flags], given)
  expect(error).toBeUndefined()
  return { code, outcome: JSON.parse(printed.join('\n')) }
}

/** Does something at the first list that is answered, which then tells what was there before. */
function atFirstList(act: () => void): Promise<void> {
  const done = Promise.withResolvers<void>()
  let isOver = false
  const answer = (given: Answer): Answer => {
    const { body } = given
    if (isOver || body.kind !== 'list') return given
    isOver = true
    const value = body.envelope(body.items(), body.total)
    act()
    done.resolve()
    return { ...given, body: { kind: 'json', value } }
  }
  emulator.faults.push({ effect: { name: 'at the first list', answer } })
  return done.promise
}

/** A service whose lists never arrive, until it is let go. @returns resolves when one is asked for */
function holdLists(): { readonly asked: Promise<void>; readonly letGo: () => void } {
  const asked = Promise.withResolvers<void>()
  const answer = (given: Answer): Answer => {
    if (given.body.kind !== 'list') return given
    asked.resolve()
    return { ...given, delivery: { kind: 'hang' } }
  }
  emulator.faults.push({ effect: { name: 'hang', answer } })
  return { asked: asked.promise, letGo: () => void (emulator.faults.length = 0) }
}

const heldPartitions = sql`select from livehouse_ops.leases where name like 'partition %' and expires_at > now()`

/** What a process that has stopped holds is free at once, in place of after 20 s. */
async function expireHeld(): Promise<void> {
  await sql`update livehouse_ops.leases set expires_at = now() where name like 'partition %'`.execute(database.db)
  await sql`update pgboss.job set heartbeat_on = now() - interval '1 min' where state = 'active'`.execute(database.db)
}

async function readRuns() {
  const runs = await database.db.selectFrom('livehouse_ops.runs').select(['command', 'status']).execute()
  return runs.map((run) => `${run.command} ${run.status}`)
}

test('two workers share a run, which is one run and tells what it did like any other', async () => {
  const workers = [await startWorker(), await startWorker()]
  const { code, outcome } = await queueSync()
  expect([code, outcome.status, outcome.errors]).toEqual([0, 'ok', []])
  await expectTruth({ emulator, database })
  expect(await readRuns()).toEqual(['sync ok'])
  for (const worker of workers) await stop(worker)

  // The same in one process finds nothing that is new, and says as much in the same words.
  const here = await runVerb(sync, ['--json'], { environment: environment(), clock: systemClock })
  const again = JSON.parse(here.printed.join('\n'))
  expect(Object.keys(outcome)).toEqual(Object.keys(again))
  for (const [name, { extracted, slices }] of Object.entries<{ extracted: number; slices: object }>(outcome.streams)) {
    expect(again.streams[name], name).toMatchObject({ inserted: 0, updated: 0 })
    expect(Object.keys(slices)).toEqual(Object.keys(again.streams[name].slices))
    expect(extracted, name).toBeGreaterThanOrEqual(emulator.truth()[name]?.length ?? 0)
  }
})

test('a job that serve holds is shared with a worker, and is one run on record', async () => {
  const folder = createTemporaryFolder('jobs')
  writeFileSync(join(folder, 'nightly.ts'), `export default { cron: '0 0 1 1 *' }`)
  await sql`insert into livehouse_ops.jobs (job, cron, time_zone, is_enabled, since)
    values ('nightly', '0 0 1 1 *', 'Asia/Shanghai', true, '2025-12-01')`.execute(database.db)
  const worker = await startWorker()
  const serve = startChild(['serve'], { ...environment(), LIVEHOUSE_JOBS_DIR: folder, LIVEHOUSE_HTTP: 'off' })
  await serve.hears('"job.ended"')
  await expectTruth({ emulator, database })
  expect(await readRuns()).toEqual(['run nightly ok'])
  for (const child of [serve, worker]) await stop(child)
})

test('what a killed worker was reading is read by another', async () => {
  const first = await startWorker()
  const killed = atFirstList(() => first.process.kill('SIGKILL'))
  const running = queueSync()
  await killed
  await first.ended
  await expireHeld()
  const second = await startWorker()
  expect(await running).toMatchObject({ code: 0, outcome: { status: 'ok' } })
  await expectTruth({ emulator, database })
  await stop(second)
})

test('an attempt whose end is on no record counts in the run, also with the queue in another database', async () => {
  await using other = await createTestDatabase({ isMigrated: false })
  const settings = { LIVEHOUSE_QUEUE_URL: other.url }
  const worker = await startWorker(settings)
  await sql`create function pgboss.lose() returns trigger language plpgsql as $$ begin raise 'lost'; end $$`.execute(
    other.db,
  )
  await sql`create trigger lose before update on pgboss.job for each row
    when (new.state = 'completed' and new.name = 'partitions' and new.retry_count = 0)
    execute function pgboss.lose()`.execute(other.db)
  const { code, outcome } = await queueSync(['--streams', 'visitors,gifts'], never, settings)
  expect(code).toBe(0)
  await expectTruth({ emulator, database }, ['visitors', 'gifts'])
  const { visitors, gifts } = outcome.streams
  expect(visitors).toMatchObject({ extracted: 120, inserted: 120, unchanged: 0, calls: 2, slices: { verified: 2 } })
  expect(gifts.inserted).toBe(emulator.truth().gifts?.length)
  const { rows } = await sql`select from pg_namespace where nspname = 'pgboss'`.execute(database.db)
  expect(rows).toEqual([])
  await stop(worker)
})

test('a worker goes on when its database was restarted, and the next run lacks nothing', async () => {
  const folder = await createPassableFolder('restarted')
  onTestFinished(async () => {
    await stopEmbedded(folder, never)
    await rm(folder, { recursive: true, force: true })
  })
  const settings = { DATABASE_URL: 'embedded', LIVEHOUSE_DATA_DIR: folder }
  const worker = await startWorker(settings)
  const asked = atFirstList(() => {})
  const given = { environment: { ...environment(), ...settings }, clock: systemClock }
  const running = runVerb(sync, ['--queue'], given)
  await asked
  await stopEmbedded(folder, never)
  const server = await startEmbedded(folder, systemClock, never)
  await running
  expect(await queueSync([], never, settings)).toMatchObject({ code: 0, outcome: { status: 'ok' } })
  await using db = await openDatabase(server.url('livehouse'))
  await expectTruth({ emulator, database: { db } })
  await stop(worker)
})

test('a worker that gets SIGTERM gives back what it was reading', async () => {
  const { asked, letGo } = holdLists()
  const first = await startWorker()
  const running = queueSync()
  await asked
  await stop(first)
  letGo()
  const second = await startWorker()
  expect(await running).toMatchObject({ code: 0, outcome: { status: 'ok' } })
  await expectTruth({ emulator, database })
  await stop(second)
})

test('a worker that was stopped with an older reading in hand overwrites nothing when it goes on', async () => {
  const first = await startWorker()
  const stopped = atFirstList(() => first.process.kill('SIGSTOP'))
  onTestFinished(() => void first.process.kill('SIGCONT'))
  const running = queueSync(['--streams', 'visitors'])
  await stopped
  await expireHeld()
  for (const { visitors } of emulator.world.channels.values()) {
    for (const visitor of visitors.rows) visitors.replace(visitor, { ...visitor, nick: `${visitor.nick} II` })
  }
  const second = await startWorker()
  expect(await running).toMatchObject({ code: 0, outcome: { status: 'ok' } })
  await expectTruth({ emulator, database }, ['visitors'])
  first.process.kill('SIGCONT')
  await first.hears('"job.lost"')
  await stop(first)
  await stop(second)
  await expectTruth({ emulator, database }, ['visitors'])
})

test('a run that is interrupted stops its workers', async () => {
  const { asked } = holdLists()
  const worker = await startWorker()
  const stopping = new AbortController()
  const running = queueSync([], stopping.signal)
  await asked
  await untilRow(database.db, heldPartitions)
  stopping.abort(new LivehouseError('run.interrupted', 'interrupted by SIGINT', { signal: 'SIGINT' }))
  const { outcome } = await running
  expect(outcome).toMatchObject({ status: 'partial', errors: [{ code: 'run.interrupted' }] })
  await untilRow(database.db, sql`select where not exists (${heldPartitions})`)
  emulator.faults.length = 0
  expect(await queueSync()).toMatchObject({ code: 0 })
  await expectTruth({ emulator, database })
  expect(await readRuns()).toEqual(['sync partial', 'sync ok'])
  await stop(worker)
})

test('who asked for a run and died is waited for by nobody', async () => {
  const { asked, letGo } = holdLists()
  const worker = await startWorker()
  const asking = startChild(['sync', '--queue'], environment())
  await asked
  asking.process.kill('SIGKILL')
  await asking.ended
  await sql`update livehouse_ops.leases set expires_at = now() where name like 'run %'`.execute(database.db)
  await untilRow(database.db, sql`select where not exists (${heldPartitions})`)
  const calls = emulator.calls.length
  letGo()
  await untilRow(
    database.db,
    sql`select where not exists (
    select from pgboss.job where name = 'partitions' and state in ('created', 'retry', 'active'))`,
  )
  expect(emulator.calls).toHaveLength(calls)
  const shown = await runVerb(status, [], { environment: environment(), clock: systemClock })
  expect(shown.printed.join('\n')).toContain('interrupted')
  await stop(worker)
})
