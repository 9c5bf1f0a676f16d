import { type Kysely, type Selectable, sql } from 'kysely'
import type { Database } from '../db/database.ts'
import type { JobRunsTable } from '../db/tables/schedule-tables.ts'

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
  which: ReturnType<typeof sql<boolean>>,
  order: ReturnType<typeof sql<unknown>>,
): Promise<ReadonlyMap<string, JobRun>> {
  const { rows } = await sql<Selectable<JobRunsTable>>`
    select last.* from unnest(${jobs}::text[]) as wanted (name) cross join lateral (
      select * from livehouse_ops.job_runs where job = name and ${which} order by ${order} limit 1) as last`.execute(db)
  return new Map(rows.map((row) => [row.job, jobRunOf(row)]))
}

function jobRunOf(row: Selectable<JobRunsTable>): JobRun {
  return {
    jobRunId: row.job_run_id,
    job: row.job,
    localTime: row.local_time,
    isRepeat: row.is_repeat,
    dueAt: row.due_at,
    status: row.status,
    outcome: row.outcome,
    attempts: row.attempts,
    worker: row.worker,
    runId: row.run_id,
    error: row.error,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  }
}
