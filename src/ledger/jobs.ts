import { type Kysely, sql } from 'kysely'
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

/** Since when each job is served by its present schedule. */
export async function readServedSince(db: Kysely<Database>): Promise<ReadonlyMap<string, Date>> {
  const rows = await db.selectFrom('livehouse_ops.jobs').select(['job', 'since']).execute()
  return new Map(rows.map(({ job, since }) => [job, since]))
}

/** Says that jobs are served. Kept by the clock of the database: those of several machines may differ. */
export async function sayServed(db: Kysely<Database>, jobs: readonly string[]): Promise<void> {
  await sql`update livehouse_ops.jobs set seen_at = now() where job = any(${jobs}::text[])`.execute(db)
}

/** The jobs of which that was said in the last two minutes. */
export async function readServedJobs(db: Kysely<Database>): Promise<readonly string[]> {
  const { rows } = await sql<{ job: string }>`
    select job from livehouse_ops.jobs where seen_at > now() - interval '2 minutes'`.execute(db)
  return rows.map(({ job }) => job)
}
