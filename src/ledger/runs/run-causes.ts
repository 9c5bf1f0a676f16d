import { sql } from 'kysely'
import type { Cause } from '../../core/cause.ts'
import type { Db } from '../../store/database.ts'
import { selectFailedStarts } from '../jobs.ts'

/** The last run of a command, with its problems. `reason`: why it could not begin or end; may quote the service. */
type FailedRun = Omit<Extract<Cause, { kind: 'run' }>, 'kind' | 'reason'> & { readonly reason: string | null }

/**
 * The last run with problems of each command (such as `run nightly`), unless a later run without problems has covered
 * what it was asked for; a run that names no channels covers all. Runs that were only interrupted are left out, as the
 * next run resumes them.
 */
export async function readFailedRuns(db: Db): Promise<readonly FailedRun[]> {
  // Counts in the database: a run's JSON document may hold thousands of errors. The builder cannot take JSON apart.
  const { rows } = await sql<FailedRun>`
    with named as (
      select commands.command as name, run_id, status, outcome, finished_at, null as reason
      from (select distinct command from livehouse_ops.runs where command <> 'demo') as commands cross join lateral (
        select * from (
          select * from livehouse_ops.runs where runs.command = commands.command and status in ('partial', 'failed')
            and not coalesce(outcome -> 'errors' <> '[]'
              and not jsonb_path_exists(outcome, '$.errors[*] ? (@.code != "run.interrupted")'), false)
          order by finished_at desc nulls last, run_id desc limit 100
        ) as runs
        -- Of the last hundred, one after the other from the newest on, until one is found that nothing covers.
        where not coalesce((select true from livehouse_ops.runs as good where good.command = runs.command
          and good.run_id > runs.run_id and status not in ('running', 'interrupted', 'partial', 'failed')
          and (command not in ('sync', 'backfill', 'audit')
            or coalesce(settings -> 'streams' @> (runs.settings -> 'streams')
              and (not settings ? 'namesChannels' or settings -> 'channels' @> (runs.settings -> 'channels'))
              and (settings ->> 'from' is null or settings ->> 'from' <= runs.settings ->> 'from'
                and settings ->> 'to' >= runs.settings ->> 'to'), false)) order by run_id limit 1), false)
        order by finished_at desc nulls last, run_id desc limit 1
      ) as last_run
      union all
      -- A failed run says why itself.
      select 'run ' || job, null, outcome, null, finished_at, error from (${selectFailedStarts(db)}) as job_run
      where not exists (select from livehouse_ops.runs where command = 'run ' || job
        and (status = 'failed' and finished_at between job_run.started_at and job_run.finished_at
          or status not in ('running', 'interrupted', 'partial', 'failed') and finished_at > job_run.finished_at))
    ), last as (
      select distinct on (name) * from named order by name, finished_at desc nulls last, run_id desc nulls last
    )
    select name, run_id as "runId", status, reason, coalesce((
      select jsonb_agg(jsonb_build_object('stream', stream, 'code', code, 'count', count) order by stream, code)
      from (select e ->> 'stream' as stream, e ->> 'code' as code, count(*)
        from jsonb_array_elements(last.outcome -> 'errors') as e group by 1, 2) as counted
    ), '[]') as problems
    from last where status in ('partial', 'failed') order by name`.execute(db)
  return rows
}
