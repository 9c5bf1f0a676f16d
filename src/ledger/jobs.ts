import { sql } from 'kysely'
import type { Db } from '../store/database.ts'
import { readLeases } from './leases/lease-rows.ts'
import { Leases } from './leases/leases.ts'
import { ops, type Row } from './ops.ts'

/**
 * Records the jobs when a scheduler starts. A new job, or one with a new schedule, is due from now on: earlier times
 * are not caught up. @returns since when each job is due
 */
export async function registerJobs(
  db: Db,
  jobs: readonly Pick<Row<'jobs'>, 'job' | 'cron' | 'timeZone' | 'isEnabled'>[],
  now: Date,
): Promise<ReadonlyMap<string, Date>> {
  if (jobs.length === 0) return new Map()
  // The earlier instant counts, so that a clock that was ahead delays no job. The comparison is plainer in SQL.
  const since = sql<Date>`case when (jobs.cron, jobs.time_zone, jobs.is_enabled) =
    (excluded.cron, excluded.time_zone, excluded.is_enabled) then least(jobs.since, ${now}) else ${now} end`
  const rows = await ops(db)
    .insertInto('jobs')
    .values(jobs.map((job) => ({ ...job, since: now })))
    .onConflict((conflict) =>
      conflict.column('job').doUpdateSet((eb) => ({
        cron: eb.ref('excluded.cron'),
        timeZone: eb.ref('excluded.timeZone'),
        isEnabled: eb.ref('excluded.isEnabled'),
        since,
      })),
    )
    .returning(['job', 'since'])
    .execute()
  return new Map(rows.map((row) => [row.job, row.since]))
}

/** Held while this process alone works on a job. Use it with `await using`. */
export interface JobLease extends AsyncDisposable {
  /** Aborts with lease.lost when another process may work on the job. */
  readonly lost: AbortSignal
}

/** Takes the lease of a job without waiting. @returns undefined if another process has it @throws db.… codes */
export async function takeJob(db: Db, job: string): Promise<JobLease | undefined> {
  await using stack = new AsyncDisposableStack()
  const lost = await stack.use(new Leases(db)).tryTake(leaseOf(job))
  if (lost === undefined) return undefined
  const lease = stack.move()
  return { lost, [Symbol.asyncDispose]: async () => await lease.disposeAsync() }
}

/** Which of these jobs are running now, in any process. */
export async function readHeldJobs(db: Db, jobs: readonly string[]): Promise<ReadonlySet<string>> {
  const names = new Set((await readLeases(db)).map(({ name }) => name))
  return new Set(jobs.filter((job) => names.has(leaseOf(job))))
}

function leaseOf(job: string): string {
  return `job ${job}`
}

/** A run of a job. If its process was killed, it stays `running`. */
export type JobRun = Row<'job_runs'>

/** The run on record for each job's last due time that is not later than `now`. */
export async function readLastTicks(db: Db, jobs: readonly string[], now: Date): Promise<ReadonlyMap<string, JobRun>> {
  const ticks = selectRuns(db).where('localTime', 'is not', null).where('dueAt', '<=', now)
  return await readFirstOfEach(jobs, ticks.orderBy('dueAt', 'desc').orderBy('isRepeat', 'desc'))
}

/** The latest run of each job, of those that began by `now`: a clock may have been ahead. */
export async function readLastJobRuns(db: Db, jobs: readonly string[], now: Date) {
  const runs = selectRuns(db).where('status', '!=', 'skipped').where('startedAt', '<=', now)
  return await readFirstOfEach(jobs, runs.orderBy('startedAt', 'desc').orderBy('jobRunId', 'desc'))
}

function selectRuns(db: Db) {
  return ops(db).selectFrom('job_runs').selectAll()
}

/**
 * A subquery of each job's last run that ended without a finished run in the ledger: it failed before that run began (a
 * missing setting, say), or that run never ended.
 */
export function selectFailedStarts(db: Db) {
  const failures = ops(db).selectFrom('job_runs').where('runId', 'is', null).where('status', '=', 'ended')
  return failures
    .select(['job', 'outcome', 'error', 'startedAt', 'finishedAt'])
    .distinctOn('job')
    .orderBy('job')
    .orderBy('finishedAt', (order) => order.desc().nullsLast())
}

/** Reads job by job, each through the index: jobs are few, but each may have many runs. */
async function readFirstOfEach(jobs: readonly string[], runs: ReturnType<typeof selectRuns>) {
  const first = new Map<string, JobRun>()
  for (const job of jobs) {
    const run = await runs.where('job', '=', job).limit(1).executeTakeFirst()
    if (run !== undefined) first.set(job, run)
  }
  return first
}

interface NewJobRun extends Pick<Row<'job_runs'>, 'job' | 'worker' | 'startedAt'> {
  /** When it was due, and in which zone: an edited job may be due at the same wall time of another zone. */
  readonly due: { readonly localTime: string; readonly timeZone: string; isRepeat: boolean; dueAt: Date } | undefined
}

/** A run and its attempt, whose number shows whether another process has begun the run since. */
export type HeldJobRun = Pick<JobRun, 'jobRunId' | 'attempts'>

/** Records that a run begins, for the first time or again. @returns undefined if it has already ended */
export async function beginJobRun(db: Db, { job, due, worker, startedAt }: NewJobRun): Promise<HeldJobRun | undefined> {
  const tick = due ?? { timeZone: null, localTime: null, isRepeat: false, dueAt: null }
  const start = { status: 'running', worker, startedAt, finishedAt: null, error: null } as const
  return await ops(db)
    .insertInto('job_runs')
    .values({ job, ...tick, ...start, outcome: null, attempts: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['job', 'timeZone', 'localTime', 'isRepeat'])
        .doUpdateSet((eb) => ({ ...start, attempts: eb('job_runs.attempts', '+', 1) }))
        .where('job_runs.status', 'in', ['running', 'interrupted']),
    )
    .returning(['jobRunId', 'attempts'])
    .executeTakeFirst()
}

/** How a run of a job ended or was interrupted. */
export interface EndedJobRun extends Pick<JobRun, 'outcome' | 'runId' | 'error'> {
  readonly status: 'ended' | 'interrupted' | 'skipped'
  readonly finishedAt: Date
}

/** Records the end of a run. @returns false, with nothing written, if it has ended or another process has begun it */
export async function endJobRun(db: Db, { jobRunId, attempts }: HeldJobRun, end: EndedJobRun): Promise<boolean> {
  const { numUpdatedRows } = await ops(db)
    .updateTable('job_runs')
    .set(end)
    .where('jobRunId', '=', jobRunId)
    .where('attempts', '=', attempts)
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
