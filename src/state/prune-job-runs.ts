import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/database.ts'
import { distinctValues } from './distinct-values.ts'
import type { Pruning } from './pruning.ts'
import { MOST_RUNS_COUNTED } from './read-job-proofs.ts'

/**
 * Deletes old runs of jobs, at most so many. Of each job those stay that schedules, alerts and pages go by: the last time at which it was due, the
 * run that was begun last, and the last that ended.
 * @returns how many are gone
 */
export async function pruneJobRuns(db: Kysely<Database>, { before, now, most }: Pruning): Promise<number> {
  const { rows } = await sql`
    with names as materialized (select value as job from ${distinctValues('livehouse_ops.job_runs', 'job')} as found),
    kept as materialized (
      select last.job_run_id from names cross join lateral (
        (select job_run_id from livehouse_ops.job_runs where job = names.job and local_time is not null and due_at <= ${now}
          order by due_at desc, is_repeat desc limit 1)
        union all
        (select job_run_id from livehouse_ops.job_runs where job = names.job and status <> 'skipped'
          order by started_at desc, job_run_id desc limit 1)
        union all
        (select job_run_id from livehouse_ops.job_runs where job = names.job and status = 'ended'
          order by started_at desc limit ${MOST_RUNS_COUNTED})
      ) as last
    ),
    old as (
      select first.job_run_id from names cross join lateral (
        select job_run_id from livehouse_ops.job_runs
        where job = names.job and started_at < ${before} and job_run_id not in (select job_run_id from kept)
        order by started_at limit ${most}) as first
      limit ${most}
    )
    delete from livehouse_ops.job_runs where job_run_id in (
      select job_run_id from livehouse_ops.job_runs where job_run_id in (select job_run_id from old)
      order by job_run_id for update skip locked)
    returning job_run_id`.execute(db)
  return rows.length
}
