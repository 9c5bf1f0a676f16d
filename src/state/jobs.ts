import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/database.ts'

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
    select job, cron, time_zone, is_enabled, ${now}, ${now}
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
