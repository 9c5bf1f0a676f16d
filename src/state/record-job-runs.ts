import { type Kysely, sql } from 'kysely'
import type { RunStatus } from '../core/outcome.ts'
import type { Database } from '../db/database.ts'

/** A time at which a job is due. */
export interface DueTime {
  /** Wall clock of the job's zone, `YYYY-MM-DD HH:MM:SS`. */
  readonly localTime: string
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

/** How a run of a job ended, or came to a stop before its end. */
export interface EndedJobRun {
  readonly status: 'ended' | 'interrupted' | 'skipped'
  readonly outcome: RunStatus | null
  readonly runId: string | null
  readonly error: string | null
  readonly finishedAt: Date
}

/** Writes the beginning of a run. @returns its number; undefined where the job has been begun for this time before */
export async function beginJobRun(
  db: Kysely<Database>,
  { job, due, worker, startedAt }: NewJobRun,
): Promise<string | undefined> {
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
    })
    .onConflict((conflict) => conflict.columns(['job', 'local_time', 'is_repeat']).doNothing())
    .returning('job_run_id')
    .executeTakeFirst()
  return row?.job_run_id
}

/** Begins a run once more that did not come to its end. */
export async function resumeJobRun(
  db: Kysely<Database>,
  jobRunId: string,
  { worker, startedAt }: Pick<NewJobRun, 'worker' | 'startedAt'>,
): Promise<void> {
  await db
    .updateTable('livehouse_ops.job_runs')
    .set({
      status: 'running',
      worker,
      started_at: startedAt,
      finished_at: null,
      error: null,
      attempts: sql<number>`attempts + 1`,
    })
    .where('job_run_id', '=', jobRunId)
    .execute()
}

export async function endJobRun(db: Kysely<Database>, jobRunId: string, run: EndedJobRun): Promise<void> {
  await db
    .updateTable('livehouse_ops.job_runs')
    .set({
      status: run.status,
      outcome: run.outcome,
      run_id: run.runId,
      error: run.error,
      finished_at: run.finishedAt,
    })
    .where('job_run_id', '=', jobRunId)
    .execute()
}
