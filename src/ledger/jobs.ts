import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { RunStatus } from '../core/outcome.ts'
import type { Database } from '../store/database.ts'
import { Leases, type LeaseTimes, readLeases } from './leases.ts'

/** When a job is due. */
export interface JobSchedule {
  readonly job: string
  readonly cron: string
  readonly timeZone: string
  readonly isEnabled: boolean
}

/**
 * Writes down the jobs of a scheduler that starts. A job that is new, or is due at other times than before, is due from now on:
 * what lies before is not caught up. @returns since when each is due
 */
export async function registerJobs(
  db: Kysely<Database>,
  jobs: readonly JobSchedule[],
  now: Date,
): Promise<ReadonlyMap<string, Date>> {
  // A clock that was ahead must not keep a job from being due until then: the earlier instant counts.
  const { rows } = await sql<{ job: string; since: Date }>`
    insert into livehouse_ops.jobs as known (job, cron, time_zone, is_enabled, since, seen_at)
    select job, cron, time_zone, is_enabled, ${now}, now()
    from unnest(${jobs.map(({ job }) => job)}::text[], ${jobs.map(({ cron }) => cron)}::text[],
      ${jobs.map(({ timeZone }) => timeZone)}::text[], ${jobs.map(({ isEnabled }) => isEnabled)}::boolean[])
      as found (job, cron, time_zone, is_enabled)
    on conflict (job) do update
    set cron = excluded.cron, time_zone = excluded.time_zone, is_enabled = excluded.is_enabled, seen_at = excluded.seen_at,
      since = case when (known.cron, known.time_zone, known.is_enabled)
          = (excluded.cron, excluded.time_zone, excluded.is_enabled)
        then least(known.since, excluded.since) else excluded.since end
    returning job, since`.execute(db)
  return new Map(rows.map(({ job, since }) => [job, since]))
}

/** That this process, and no other, is at work on a job. Use it with `await using`. */
export interface JobLease extends AsyncDisposable {
  /** Aborts, with lease.lost, when another may be. */
  readonly lost: AbortSignal
}

/** Does not wait. @returns undefined while another has it @throws db.… codes */
export async function takeJob(db: Kysely<Database>, job: string, times?: LeaseTimes): Promise<JobLease | undefined> {
  await using stack = new AsyncDisposableStack()
  const leases = stack.use(new Leases(db, times))
  const lost = await leases.tryTake(nameOf(job))
  if (lost === undefined) return undefined
  const held = stack.move()
  return { lost, [Symbol.asyncDispose]: async () => await held.disposeAsync() }
}

/** Those of some jobs that a living process is at work on. */
export async function readHeldJobs(db: Kysely<Database>, jobs: readonly string[]): Promise<ReadonlySet<string>> {
  const names = new Set((await readLeases(db)).map(({ name }) => name))
  return new Set(jobs.filter((job) => names.has(nameOf(job))))
}

function nameOf(job: string): string {
  return `job ${job}`
}

/** A run of a job, as the record has it. */
export interface JobRun {
  /** Decimal text. */
  readonly jobRunId: string
  readonly job: string
  /** When it was due: wall clock of the job's zone, `YYYY-MM-DD HH:MM:SS`; null for a run by hand. */
  readonly localTime: string | null
  /** Whether it is the second time that the clock showed this. */
  readonly isRepeat: boolean
  readonly dueAt: Date | null
  /** `running` also where its process was killed. */
  readonly status: 'running' | 'interrupted' | 'ended' | 'skipped'
  readonly outcome: 'ok' | 'partial' | 'waiting' | 'failed' | null
  readonly attempts: number
  /** Host and process. */
  readonly worker: string
  readonly runId: string | null
  readonly error: string | null
  readonly startedAt: Date
  readonly finishedAt: Date | null
}

/** Of each job the last time at which it was due and that is on record, as far as it does not lie ahead of `now`. */
export async function readLastTicks(
  db: Kysely<Database>,
  jobs: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, JobRun>> {
  return await readLast(db, jobs, sql`local_time is not null and due_at <= ${now}`, sql`due_at desc, is_repeat desc`)
}

/** Of each job the run that was begun last. */
export async function readLastJobRuns(
  db: Kysely<Database>,
  jobs: readonly string[],
): Promise<ReadonlyMap<string, JobRun>> {
  return await readLast(db, jobs, sql`status <> 'skipped'`, sql`started_at desc, job_run_id desc`)
}

async function readLast(
  db: Kysely<Database>,
  jobs: readonly string[],
  which: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
): Promise<ReadonlyMap<string, JobRun>> {
  const { rows } = await sql<JobRun>`
    select last.* from unnest(${jobs}::text[]) as wanted (name) cross join lateral (
      select job_run_id as "jobRunId", job, local_time as "localTime", is_repeat as "isRepeat", due_at as "dueAt", status, outcome,
        attempts, worker, run_id as "runId", error, started_at as "startedAt", finished_at as "finishedAt"
      from livehouse_ops.job_runs where job = name and ${which} order by ${order} limit 1) as last`.execute(db)
  return new Map(rows.map((row) => [row.job, row]))
}

/** A time at which a job is due. */
export interface DueTime {
  /** Wall clock of the job's zone, `YYYY-MM-DD HH:MM:SS`. */
  readonly localTime: string
  /** IANA: an edited job may be due at the same wall time of another zone. */
  readonly timeZone: string
  readonly isRepeat: boolean
  readonly dueAt: Date
}

export interface NewJobRun {
  readonly job: string
  /** Undefined for a run by hand. */
  readonly due: DueTime | undefined
  readonly worker: string
  readonly startedAt: Date
}

/** A run as its holder knows it: each time that it is begun it is another's. */
export type HeldJobRun = Pick<JobRun, 'jobRunId' | 'attempts'>

/** How a run of a job ended, or came to a stop before its end. */
export interface EndedJobRun {
  readonly status: 'ended' | 'interrupted' | 'skipped'
  readonly outcome: RunStatus | null
  readonly runId: string | null
  readonly error: string | null
  readonly finishedAt: Date
}

/** Writes the beginning of a run, or that it is begun once more. @returns undefined where it has ended before */
export async function beginJobRun(
  db: Kysely<Database>,
  { job, due, worker, startedAt }: NewJobRun,
): Promise<HeldJobRun | undefined> {
  const { rows } = await sql<HeldJobRun>`
    insert into livehouse_ops.job_runs as known
      (job, time_zone, local_time, is_repeat, due_at, status, attempts, worker, started_at)
    values (${job}, ${due?.timeZone ?? null}, ${due?.localTime ?? null}::timestamp, ${due?.isRepeat ?? false},
      ${due?.dueAt ?? null}, 'running', 1, ${worker}, ${startedAt})
    on conflict (job, time_zone, local_time, is_repeat) do update set status = 'running', attempts = known.attempts + 1,
      worker = excluded.worker, started_at = excluded.started_at, finished_at = null, error = null
      where known.status in ('running', 'interrupted')
    returning job_run_id as "jobRunId", attempts`.execute(db)
  return rows[0]
}

/** Writes the end of a run. @returns false where it was begun by another since, or has ended: then nothing is written */
export async function endJobRun(
  db: Kysely<Database>,
  { jobRunId, attempts }: HeldJobRun,
  { status, outcome, runId, error, finishedAt }: EndedJobRun,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('livehouse_ops.job_runs')
    .set({ status, outcome, run_id: runId, error, finished_at: finishedAt })
    .where('job_run_id', '=', jobRunId)
    .where('attempts', '=', attempts)
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
