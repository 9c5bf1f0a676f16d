import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { RunStatus } from '../core/outcome.ts'
import type { Database } from '../store/database.ts'

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

/** A run as its holder knows it: of nobody else's, and of no other attempt. */
export type HeldJobRun = Pick<JobRun, 'jobRunId' | 'status' | 'worker' | 'attempts'>

/** How a run of a job ended, or came to a stop before its end. */
export interface EndedJobRun {
  readonly status: 'ended' | 'interrupted' | 'skipped'
  readonly outcome: RunStatus | null
  readonly runId: string | null
  readonly error: string | null
  readonly finishedAt: Date
}

/** Writes the beginning of a run. @returns it; undefined where the job has been begun for this time before */
export async function beginJobRun(
  db: Kysely<Database>,
  { job, due, worker, startedAt }: NewJobRun,
): Promise<HeldJobRun | undefined> {
  const row = await db
    .insertInto('livehouse_ops.job_runs')
    .values({
      job,
      local_time: due?.localTime ?? null,
      is_repeat: due?.isRepeat ?? false,
      due_at: due?.dueAt ?? null,
      status: 'running',
      outcome: null,
      attempts: 1,
      worker,
      error: null,
      started_at: startedAt,
      time_zone: due?.timeZone ?? null,
    })
    .onConflict((conflict) => conflict.columns(['job', 'time_zone', 'local_time', 'is_repeat']).doNothing())
    .returning('job_run_id')
    .executeTakeFirst()
  return row && { jobRunId: row.job_run_id, status: 'running', worker, attempts: 1 }
}

/** Begins a run once more that did not come to its end. @returns undefined where it is another's by now, or has ended */
export async function resumeJobRun(
  db: Kysely<Database>,
  run: HeldJobRun,
  { worker, startedAt }: Pick<NewJobRun, 'worker' | 'startedAt'>,
): Promise<HeldJobRun | undefined> {
  const { numUpdatedRows } = await db
    .updateTable('livehouse_ops.job_runs')
    .set({
      status: 'running',
      worker,
      started_at: startedAt,
      finished_at: null,
      error: null,
      attempts: sql<number>`attempts + 1`,
    })
    .where(isStill(run))
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 0n ? undefined : { ...run, status: 'running', worker, attempts: run.attempts + 1 }
}

/** Writes the end of a run. @returns false where it is another's by now, or has ended: then nothing is written */
export async function endJobRun(db: Kysely<Database>, held: HeldJobRun, run: EndedJobRun): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('livehouse_ops.job_runs')
    .set({
      status: run.status,
      outcome: run.outcome,
      run_id: run.runId,
      error: run.error,
      finished_at: run.finishedAt,
    })
    .where(isStill(held))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

function isStill({ jobRunId, status, worker, attempts }: HeldJobRun) {
  return sql<boolean>`job_run_id = ${jobRunId} and status = ${status} and worker = ${worker} and attempts = ${attempts}`
}

/** Runs of a job in a row that are counted; from there on the number says nothing more. */
export const MOST_RUNS_COUNTED = 100

/** How many of the last runs of a job in a row ended `waiting`, up to `MOST_RUNS_COUNTED`. */
export async function countRunsWaiting(db: Kysely<Database>, job: string): Promise<number> {
  const runs = await db
    .selectFrom('livehouse_ops.job_runs')
    .select('outcome')
    .where('job', '=', job)
    .where('status', '=', 'ended')
    .orderBy('started_at', 'desc')
    .limit(MOST_RUNS_COUNTED)
    .execute()
  const other = runs.findIndex(({ outcome }) => outcome !== 'waiting')
  return other === -1 ? runs.length : other
}
