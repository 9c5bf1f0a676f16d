import { type Kysely, sql } from 'kysely'
import type { Database } from '../store/database.ts'

/** A process that runs jobs by their schedule. */
export interface Scheduler {
  readonly schedulerId: string
  /** Host and process. */
  readonly worker: string
  /** Digest of each of its jobs by name. */
  readonly jobs: Readonly<Record<string, string>>
  readonly startedAt: Date
}

/** Says that a scheduler is there. Kept by the clock of the database: those of several machines may differ. */
export async function sayHere(
  db: Kysely<Database>,
  { schedulerId, worker, jobs, startedAt }: Scheduler,
): Promise<void> {
  await sql`
    with gone as (delete from livehouse_ops.schedulers where seen_at < now() - interval '1 day')
    insert into livehouse_ops.schedulers (scheduler_id, worker, jobs, started_at, seen_at)
    values (${schedulerId}, ${worker}, ${JSON.stringify(jobs)}::jsonb, ${startedAt}, now())
    on conflict (scheduler_id) do update set seen_at = excluded.seen_at`.execute(db)
}

/** Those that have said so in the last two minutes, the oldest first. */
export async function readSchedulers(db: Kysely<Database>): Promise<readonly Scheduler[]> {
  const { rows } = await sql<Scheduler>`
    select scheduler_id as "schedulerId", worker, jobs, started_at as "startedAt" from livehouse_ops.schedulers
    where seen_at > now() - interval '2 minutes' order by started_at, scheduler_id`.execute(db)
  return rows
}

/** Says that a scheduler has ended. */
export async function sayGone(db: Kysely<Database>, schedulerId: string): Promise<void> {
  await db.deleteFrom('livehouse_ops.schedulers').where('scheduler_id', '=', schedulerId).execute()
}
