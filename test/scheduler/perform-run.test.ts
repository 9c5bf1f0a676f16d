import { once } from 'node:events'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import type { RunJob } from '../../src/app/run-job.ts'
import { performRun } from '../../src/scheduler/perform-run.ts'
import { createProgressBoard } from '../../src/app/progress-board.ts'
import { takeJob } from '../../src/ledger/jobs.ts'
import { beginJobRun, endJobRun, type HeldJobRun, readLastJobRuns, resumeJobRun } from '../../src/ledger/job-runs.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { nightly } from '../helpers/scheduler-bench.ts'
import { doneWell, jobOf } from '../helpers/start-scheduler.ts'

const startedAt = new Date('2026-11-20T18:00:00Z')
const job = jobOf('nightly', nightly)

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
beforeEach(async () => {
  await sql`delete from livehouse_ops.job_runs`.execute(database.db)
  await sql`delete from livehouse_ops.leases`.execute(database.db)
})
afterAll(() => database[Symbol.asyncDispose]())

const clock: Clock = { now: () => startedAt.getTime(), sleep: async () => {} }

async function begin(): Promise<HeldJobRun> {
  const run = await beginJobRun(database.db, { job: 'nightly', due: undefined, worker: 'a', startedAt })
  if (run === undefined) throw new Error('a run by hand is due at no time')
  return run
}

/** Performs a run; `work` says how it goes. */
async function perform(run: HeldJobRun, runJob: RunJob): Promise<readonly string[]> {
  const { log, lines } = createRecordingLog()
  await using lease = await takeJob(database.db, 'nightly', { renewMs: 5, expiresMs: 20_000 })
  if (lease === undefined) throw new Error('nobody has it')
  const { signal } = new AbortController()
  await performRun(run, job, lease, {
    db: database.db,
    clock,
    log,
    signal,
    board: createProgressBoard(),
    runJob,
  }).catch(() => {})
  return lines.map(({ event }) => event)
}

const onRecord = async () => (await readLastJobRuns(database.db, ['nightly'])).get('nightly')

/** What another process does with the run, from taking it up to its end. */
async function overtake(run: HeldJobRun): Promise<void> {
  const theirs = await resumeJobRun(database.db, run, { worker: 'b', startedAt })
  if (theirs === undefined) throw new Error('it can be taken up')
  const end = { status: 'ended', outcome: 'ok', runId: '8', error: null, finishedAt: startedAt } as const
  expect(await endJobRun(database.db, theirs, end)).toBe(true)
}

test('a run whose lease another has taken is stopped, and what is on record is what the other did', async () => {
  const run = await begin()
  await perform(run, async (_, { signal }) => {
    await sql`update livehouse_ops.leases set epoch = epoch + 1`.execute(database.db)
    await overtake(run)
    if (!signal.aborted) await once(signal, 'abort')
    expect(signal.reason).toMatchObject({ code: 'lease.lost', message: expect.stringContaining('job nightly') })
    return doneWell
  })
  expect(await onRecord()).toMatchObject({ worker: 'b', runId: '8' })
})

const problem = { stream: null, partition: null, message: 'the database says so' }
test.each([
  ['interrupted', { ...problem, code: 'db.unreachable' }],
  ['interrupted', { ...problem, code: 'db.refused', sqlState: '53300' }],
  ['interrupted', { ...problem, code: 'db.refused', sqlState: '53100' }],
  ['interrupted', { ...problem, code: 'db.refused', sqlState: '57P01' }],
  ['ended', { ...problem, code: 'db.refused', sqlState: '42501' }],
  ['ended', { ...problem, code: 'db.newer' }],
  ['ended', { ...problem, code: 'internal' }],
] as const)('a run is %s after %o', async (status, error) => {
  const run = await begin()
  await perform(run, async () => ({ ...doneWell, status: 'failed', errors: [error] }))
  expect(await onRecord()).toMatchObject({ status, outcome: status === 'ended' ? 'failed' : null })
})
