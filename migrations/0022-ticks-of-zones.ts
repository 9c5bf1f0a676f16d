import { type Kysely, sql } from 'kysely'

/** A time at which a job is due is named by the zone of its clock too: with another zone it is another time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.job_runs
    ADD COLUMN time_zone text,
    DROP CONSTRAINT job_runs_job_local_time_is_repeat_key,
    ADD CONSTRAINT job_runs_tick UNIQUE (job, time_zone, local_time, is_repeat)`.execute(db)
  await comment(db, comments)
}

/** Of those that only their zone tells apart, the last one keeps its time. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`UPDATE livehouse_ops.job_runs AS older SET local_time = NULL
    WHERE EXISTS (SELECT FROM livehouse_ops.job_runs AS later
      WHERE (later.job, later.local_time, later.is_repeat) = (older.job, older.local_time, older.is_repeat)
        AND later.job_run_id > older.job_run_id)`.execute(db)
  await sql`ALTER TABLE livehouse_ops.job_runs
    DROP CONSTRAINT job_runs_tick,
    DROP COLUMN time_zone,
    ADD CONSTRAINT job_runs_job_local_time_is_repeat_key UNIQUE (job, local_time, is_repeat)`.execute(db)
  await comment(db, commentsBefore)
}

type Comments = Readonly<Record<string, string>>

async function comment(db: Kysely<unknown>, columns: Comments): Promise<void> {
  for (const [column, text] of Object.entries(columns)) {
    const name = sql.ref(`livehouse_ops.job_runs.${column}`)
    await sql`COMMENT ON COLUMN ${name} IS ${sql.lit(text)}`.execute(db)
  }
}

const comments: Comments = {
  time_zone: 'IANA zone of local_time; NULL for a run by hand, and in rows from before there was this column',
  status:
    'running, also where its process was killed; interrupted: taken up again by the next livehouse serve; ended, also one that was given up (outcome failed); skipped: missed, and not to be caught up, or interrupted, and made up for by the next one',
}

const commentsBefore: Comments = {
  status:
    'running, also where its process was killed; interrupted: taken up again by the next livehouse serve; ended; skipped: missed, and not to be caught up, or given up for a later one',
}
