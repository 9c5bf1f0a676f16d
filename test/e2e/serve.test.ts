import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { hang } from '../helpers/fault-effects.ts'
import { untilExpired } from '../helpers/own-locks.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { environmentOf } from '../helpers/run-verb.ts'
import { type Child, startChild } from '../helpers/start-child.ts'
import { createJobsFolder } from '../helpers/temporary-folder.ts'
import { ofFile } from '../helpers/of-file.ts'

const database = ofFile(createTestDatabase)
const emulator = ofFile(() => startEmulator({ channels: 1, viewers: 20 }))

// Also from a folder that is not livehouse's, with types, a job file has what it needs.
const lists = `import { defineJob } from 'livehouse'
  const streams: readonly ['managers', 'questionnaires'] = ['managers', 'questionnaires']
  export default defineJob({ cron: '0 0 1 1 *', streams })`
const jobs = createJobsFolder({ lists })

const startServe = () =>
  startChild(['serve'], {
    ...environmentOf(emulator, database),
    LIVEHOUSE_JOBS_DIR: jobs,
    LIVEHOUSE_HTTP: '127.0.0.1:0',
    LOG_LEVEL: 'info',
  })

const readRun = async () => {
  const runs = database.db.selectFrom('livehouse_ops.job_runs').select(['status', 'outcome', 'attempts'])
  return await runs.executeTakeFirstOrThrow()
}

/** What waits for its next attempt, and what has died, is not waited for. */
const untilBegun = async (child: Child) => {
  const later = sql`update pgboss.job set start_after = now(), heartbeat_on = now() - interval '1 hour'
    where name = 'runs' and heartbeat_on < now() - interval '10 s' or state = 'retry'`
  const begun = child.hears('"job.started"').then(() => true)
  while (!(await Promise.race([begun, systemClock.sleep(100).then(() => false)]))) await later.execute(database.db)
}

test('serve ends at SIGTERM with 143, although an answer never comes; what it interrupts, and what is killed, is begun again', async () => {
  // It was served before this year began, and not since.
  await sql`insert into livehouse_ops.jobs (job, cron, time_zone, is_enabled, since)
    values ('lists', '0 0 1 1 *', 'Asia/Shanghai', true, '2025-12-01')`.execute(database.db)
  emulator.faults.push({ effect: hang() })

  const first = startServe()
  await first.hears('"job.started"')
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
  await third.hears('"job.ended"')
  expect(await readRun()).toEqual({ status: 'ended', outcome: 'ok', attempts: 3 })
  third.process.kill('SIGINT')
  const { code, error } = await third.ended
  expect(code).toBe(130)
  const nextYear = new Date(systemClock.now() + 8 * 3_600_000).getUTCFullYear() + 1
  expect(error).toContain(`lists: next at ${nextYear}-01-01 00:00 Asia/Shanghai`)
})
