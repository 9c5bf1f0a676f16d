import { type Kysely, sql } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import { formatWallTime, type WallTime } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'

/** When anything of each stream was last read to its end; others are left out. */
export async function readLastProofs(
  db: Kysely<Database>,
  streams: readonly StreamName[],
): Promise<ReadonlyMap<string, Date>> {
  const { rows } = await sql<{ stream: string; at: Date }>`
    select stream, max(landed_at) as at from livehouse_ops.partition_states
    where stream = any(${streams}::text[]) and landed_at is not null group by stream`.execute(db)
  return new Map(rows.map(({ stream, at }) => [stream, at]))
}

/** A day of the service: from its midnight on. */
export interface ServiceDay {
  readonly begin: WallTime
  readonly timeZone: string
}

/** A part of a stream that a day is to bring. */
export interface ExpectedPart {
  readonly stream: StreamName
  /** Its name in the ledger. */
  readonly part: string
  /** Met only on the day: it may wait for its first reading until the next one. */
  readonly isNew: boolean
}

/** How many parts, and channels with one, were not read to their end since the day began; streams without are left out. */
export async function countUnproven(
  db: Kysely<Database>,
  expected: readonly ExpectedPart[],
  { begin, timeZone }: ServiceDay,
): Promise<ReadonlyMap<string, { readonly parts: number; readonly channels: number }>> {
  if (expected.length === 0) return new Map()
  const { rows } = await sql<{ stream: string; parts: number; channels: number }>`
    with day as (select ${formatWallTime(begin)}::timestamp at time zone ${timeZone} as begin)
    select wanted.stream, count(*)::int as parts,
      count(distinct substring(wanted.partition from '^channel=([^/]+)'))::int as channels
    from unnest(${expected.map(({ stream }) => stream)}::text[], ${expected.map(({ part }) => part)}::text[],
      ${expected.map(({ isNew }) => isNew)}::bool[]) as wanted (stream, partition, is_new)
    left join livehouse_ops.partition_states as state using (stream, partition), day
    where landed_at < day.begin or landed_at is null and not wanted.is_new
    group by wanted.stream`.execute(db)
  return new Map(rows.map(({ stream, ...counts }) => [stream, counts]))
}

/** Channels and questionnaires that runs since the day began have written anew or otherwise, by their names in the ledger. */
export async function readChangedSince(
  db: Kysely<Database>,
  { begin, timeZone }: ServiceDay,
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ part: string }>`
    with today as (select run_id from livehouse_ops.runs
      where started_at >= ${formatWallTime(begin)}::timestamp at time zone ${timeZone})
    select 'channel=' || channel_id as part from livehouse.channels join today using (run_id)
    union all select 'channel=' || channel_id || '/question=' || question_id
      from livehouse.questionnaires join today using (run_id)`.execute(db)
  return new Set(rows.map(({ part }) => part))
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
