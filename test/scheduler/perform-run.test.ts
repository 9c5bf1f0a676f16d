import { once } from 'node:events'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { JobOutcome, RunJob } from '../../src/app/run-job.ts'
import type { JobDefinition } from '../../src/core/define-job.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import { beginJobRun, endJobRun, readLastJobRuns } from '../../src/ledger/jobs.ts'
import { createGiveUpHandler, createRunHandler, toDueJob } from '../../src/scheduler/perform-run.ts'
import { openTimetable } from '../../src/scheduler/timetable.ts'
import { createTally } from '../../src/sync/tally.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { jobOf, okOutcome } from '../helpers/start-scheduler.ts'

/** The start of a quarter of an hour, at which the job is due. */
const DUE_MS = Date.parse('2026-11-20T18:00:00Z')
const quarterly = { cron: '*/15 * * * *' } as const

const database = ofFile(createTestDatabase)
beforeEach(async () => {
  await sql`delete from livehouse_ops.job_runs`.execute(database.db)
  await sql`delete from livehouse_ops.leases`.execute(database.db)
})

interface AttemptOptions {
  readonly definition?: JobDefinition
  readonly afterMs?: number
  readonly number?: number
  readonly isLast?: boolean
  readonly signal?: AbortSignal
  readonly runJob?: RunJob
  readonly handler?: typeof createRunHandler
}

/**
 * Handles a queued run as `serve` does. @returns the events that were logged, and whether the handler threw, by which
 * the queue learns that the run failed
 */
async function attempt(options: AttemptOptions = {}) {
  const { definition = quarterly, afterMs = 0, number = 0, isLast = false, handler = createRunHandler } = options
  const { log, lines } = createRecordingLog()
  const job = jobOf('quarterly', definition)
  const tick = openTimetable(job.cron, job.timeZone).last(DUE_MS - 1, DUE_MS)
  if (tick === undefined) throw new Error('the job should be due')
  const { id, data } = toDueJob({ job, tick })
  const clock = { now: () => DUE_MS + afterMs, sleep: async () => {} }
  const { runJob = async () => okOutcome, signal = new AbortController().signal } = options
  const handle = handler({ db: database.db, clock, log, runJob })
  const failed = await handle({ id, data, number, isLast }, signal).then(
    () => false,
    (error: unknown) => (error instanceof LivehouseError ? error.code : true),
  )
  return { failed, events: lines.map(({ event }) => event) }
}

const readLastRun = async () => (await readLastJobRuns(database.db, ['quarterly'], new Date(DUE_MS))).get('quarterly')
const readRuns = async () =>
  await database.db.selectFrom('livehouse_ops.job_runs').select(['status', 'outcome', 'error', 'attempts']).execute()
const stopByDatabase =
  (sqlState = '57P01') =>
  async (): Promise<JobOutcome> => ({
    ...okOutcome,
    status: 'failed',
    errors: [{ stream: null, partition: null, code: 'db.refused', message: 'the database says so', sqlState }],
  })

test('a run is recorded with its end and not repeated; one that throws is failed, unless it was interrupted', async () => {
  expect(await attempt()).toMatchObject({ failed: false, events: ['job.started', 'job.ended'] })
  expect(await attempt()).toEqual({ failed: false, events: [] })
  expect(await readRuns()).toEqual([{ status: 'ended', outcome: 'ok', error: null, attempts: 1 }])
  await sql`delete from livehouse_ops.job_runs`.execute(database.db)
  const runJob = async () => await Promise.reject(new Error('no luck'))
  const interrupted = await attempt({ runJob, signal: AbortSignal.abort() })
  expect(interrupted).toEqual({ failed: true, events: ['job.started', 'job.ended'] })
  expect(await attempt({ runJob })).toMatchObject({ failed: false, events: ['job.started', 'job.failed', 'job.ended'] })
  expect(await readRuns()).toMatchObject([{ status: 'ended', outcome: 'failed', error: 'no luck' }])
})

test.each([
  ['interrupted', '53300'],
  ['interrupted', '25P03'],
  ['interrupted', '57P01'],
  ['ended', '25P02'],
])('a run that the database stops is %s after %s, and repeated only if interrupted', async (status, sqlState) => {
  expect(await attempt({ runJob: stopByDatabase(sqlState) })).toMatchObject({ failed: status === 'interrupted' })
  expect(await readRuns()).toMatchObject([{ status, outcome: status === 'ended' ? 'failed' : null }])
  const thrown = new LivehouseError('db.refused', 'the database refuses', { reason: 'so', sqlState })
  await attempt({ number: 1, runJob: async () => Promise.reject(thrown) })
  expect(await readRuns()).toMatchObject([{ status }])
})

test('a run of an outdated process is left to others; one that the database stopped fails at the last', async () => {
  const runJob = async () => await Promise.reject(new LivehouseError('db.newer', 'a newer one migrated it', {}))
  expect(await attempt({ runJob })).toMatchObject({ failed: 'db.newer' })
  await attempt({ number: 1, afterMs: 60_000 })
  expect(await readRuns()).toEqual([{ status: 'ended', outcome: 'ok', error: null, attempts: 2 }])
  await sql`delete from livehouse_ops.job_runs`.execute(database.db)
  expect(await attempt({ number: 8, isLast: true, runJob: stopByDatabase() })).toMatchObject({ failed: false })
  expect(await readRuns()).toMatchObject([{ status: 'ended', outcome: 'failed', error: 'the database says so' }])
})

test('a run that no attempt ended fails when the queue gives it up', async () => {
  await attempt({ runJob: stopByDatabase() })
  expect(await attempt({ handler: createGiveUpHandler })).toMatchObject({ events: ['job.failed'] })
  expect(await readRuns()).toMatchObject([{ outcome: 'failed', error: 'it was begun 1 times and never ended' }])
})

const LATE_MS = 16 * 60_000
test.each([
  [1, 'skipped', null],
  [2, 'ended', 'failed'],
])('after the next tick, a run begun %i times is %s, and one never begun unknown', async (number, status, outcome) => {
  expect(await attempt({ afterMs: LATE_MS })).toEqual({ failed: false, events: [] })
  expect(await readRuns()).toEqual([])
  await attempt({ runJob: stopByDatabase() })
  await attempt({ number, afterMs: LATE_MS })
  const error = 'it was still unfinished when it was due again, 2026-11-21 02:15:00'
  expect(await readRuns()).toEqual([{ status, outcome, error, attempts: 2 }])
})

test.each([
  [0, 'skipped', "it was missed, and its job has catchUp: 'never'"],
  [1, 'ended', "it was interrupted, and its job has catchUp: 'never'"],
])('a late run of a job that does not catch up, at retry %i, is %s', async (number, status, error) => {
  await attempt({ number, afterMs: 120_000, definition: { ...quarterly, catchUp: 'never' } })
  expect(await readRuns()).toMatchObject([{ status, error }])
})

test('a run that loses its lease is stopped and says so, and the record of the next holder stays', async () => {
  let reason: unknown
  const { events } = await attempt({
    runJob: async (_, { signal }) => {
      await sql`update livehouse_ops.leases set epoch = epoch + 1`.execute(database.db)
      const startedAt = new Date(DUE_MS)
      const due = { localTime: '2026-11-21 02:00:00', timeZone: 'Asia/Shanghai', isRepeat: false, dueAt: startedAt }
      const theirs = await beginJobRun(database.db, { job: 'quarterly', due, worker: 'b', startedAt })
      const end = { status: 'ended', outcome: 'ok', runId: '8', error: null, finishedAt: startedAt } as const
      if (theirs !== undefined) await endJobRun(database.db, theirs, end)
      if (!signal.aborted) await once(signal, 'abort')
      reason = signal.reason
      return okOutcome
    },
  })
  const lost = { code: 'lease.lost', message: expect.stringContaining('job quarterly') }
  expect(createTally([]).result(reason)).toMatchObject({ status: 'failed', errors: [lost] })
  expect(await readLastRun()).toMatchObject({ worker: 'b', attempts: 2, status: 'ended', outcome: 'ok', runId: '8' })
  expect(events).toContain('job.overtaken')
})
