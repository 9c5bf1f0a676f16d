import { type Kysely, sql } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'

/** When anything of each stream was last read to its end, or assumed to be as it was; others are left out. */
export async function readLastProofs(
  db: Kysely<Database>,
  streams: readonly StreamName[],
): Promise<ReadonlyMap<string, Date>> {
  // Backwards along the key: the last ones stand at the end, however long the ledger is.
  const { rows } = await sql<{ stream: string; at: Date }>`
    select stream, last.at from unnest(${streams}::text[]) as wanted (stream) cross join lateral (
      select finished_at as at from livehouse_ops.slices s
      where s.stream = wanted.stream and status in ('landed', 'moving', 'assumed') order by slice_id desc limit 1) as last`.execute(
    db,
  )
  return new Map(rows.map(({ stream, at }) => [stream, at]))
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

/** Since when each job is served by its present schedule. */
export async function readServedSince(db: Kysely<Database>): Promise<ReadonlyMap<string, Date>> {
  const rows = await db.selectFrom('livehouse_ops.jobs').select(['job', 'since']).execute()
  return new Map(rows.map(({ job, since }) => [job, since]))
}
