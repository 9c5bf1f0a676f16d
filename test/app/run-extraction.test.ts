import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import type { Database } from '../../src/store/database.ts'
import { createTestDatabase, onServer, type TestDatabase } from '../helpers/postgres.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'
import { silentLog } from '../helpers/silent-log.ts'

const clock: Clock = { now: () => Date.UTC(2026, 10, 20, 6, 30), sleep: systemClock.sleep }

/** A sync; `meanwhile` begins when its first slice has ended. */
async function runSync(database: TestDatabase, meanwhile = async () => {}) {
  await using emulator = await startEmulator({ channels: 1, viewers: 1500, clock, conditions: { latencyMs: 10 } })
  let done: Promise<void> | undefined
  const debug = (event: string) => void (event === 'slice.ended' && (done ??= meanwhile()))
  const environment = { ...environmentOf(emulator, database), LIVEHOUSE_CONCURRENCY: '2' }
  const run = await runVerb(sync, ['--json'], { environment, clock, log: { ...silentLog, debug } })
  await done
  return run
}

async function readRuns(db: Kysely<Database>) {
  return await db.selectFrom('livehouse_ops.runs').select(['status', 'finished_at', 'outcome']).execute()
}

async function endAll({ name }: TestDatabase) {
  await onServer(async (admin) => {
    await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${name}`.execute(admin)
  })
}

test('a run of which all connections are ended goes on or tells the database, and is written down', async () => {
  await using database = await createTestDatabase()
  // What is lost when all slices have ended is lost to the run itself, and told as its error.
  const { error, printed } = await runSync(database, async () => await endAll(database))
  const told = { status: expect.stringMatching(/^(ok|partial|failed)$/), errors: [error] }
  const { status, errors } = error === undefined ? JSON.parse(printed[0] ?? '') : told
  expect(errors.map(({ code }: { code: string }) => code).filter((code: string) => !code.startsWith('db.'))).toEqual([])
  expect(await readRuns(database.db)).toMatchObject([{ status, finished_at: expect.any(Date) }])
})

test('a run that fails before its first slice is written down as failed, with the reason', async () => {
  await using database = await createTestDatabase()
  await sql`alter table livehouse_ops.channel_states rename to elsewhere`.execute(database.db)
  const { error } = await runSync(database)
  expect(String(error)).toContain('channel_states')
  const problem = { code: 'internal', message: expect.stringContaining('channel_states') }
  expect(await readRuns(database.db)).toMatchObject([
    { status: 'failed', finished_at: expect.any(Date), outcome: { status: 'failed', errors: [problem] } },
  ])
})
