import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { createTestDatabase, onServer } from '../helpers/postgres.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'
import { silentLog } from '../helpers/silent-log.ts'

const clock: Clock = { now: () => Date.UTC(2026, 10, 20, 6, 30), sleep: systemClock.sleep }

test('a run of which all connections are ended goes on or tells the database, and is written down', async () => {
  await using database = await createTestDatabase()
  await using emulator = await startEmulator({ channels: 1, viewers: 1500, clock, conditions: { latencyMs: 10 } })
  const endAll = async () =>
    await onServer(async (admin) => {
      await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = ${database.name}`.execute(admin)
    })
  let ended: Promise<void> | undefined
  const debug = (event: string) => void (event === 'slice.ended' && (ended ??= endAll()))
  const environment = { ...environmentOf(emulator, database), LIVEHOUSE_CONCURRENCY: '2' }
  const { error, printed } = await runVerb(sync, ['--json'], { environment, clock, log: { ...silentLog, debug } })
  await ended
  // What is lost when all slices have ended is lost to the run itself, and told as its error.
  const told = { status: expect.stringMatching(/^(ok|partial|failed)$/), errors: [error] }
  const { status, errors } = error === undefined ? JSON.parse(printed[0] ?? '') : told
  expect(errors.map(({ code }: { code: string }) => code).filter((code: string) => !code.startsWith('db.'))).toEqual([])
  const runs = await database.db.selectFrom('livehouse_ops.runs').select(['status', 'finished_at']).execute()
  expect(runs).toMatchObject([{ status, finished_at: expect.any(Date) }])
})
