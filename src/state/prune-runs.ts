import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/database.ts'
import { runCommands, tellingRun } from './runs.ts'

/** What names the run of a row and is small: read once. Of the warehouse, `run_id` is a label that may outlive its run. */
const SMALL_TABLES = [
  'missed_rows',
  'unknown_fields',
  'channel_states',
  'source_facts',
  'headers',
  'open_slices',
] as const

/** What has an index on `run_id`. */
const INDEXED_TABLES = ['slices', 'quarantine', 'acceptance_uses', 'job_runs'] as const

/** Every table of `livehouse_ops` that names runs; one of these rows keeps its run. */
export const REFERRING_TABLES: readonly string[] = [...SMALL_TABLES, ...INDEXED_TABLES]

/** A run in the order of their beginnings. */
interface Place {
  readonly at: string
  readonly runId: string
}

/**
 * Deletes old runs that nothing refers to, except the last of each command. Looks at so many times `most` of them: where more
 * have to stay than that, it begins anywhere, and the next one anywhere else.
 * @returns how many are gone
 */
export async function pruneRuns(
  db: Kysely<Database>,
  { before, most }: Pruning,
  mostStatements: number,
  signal: AbortSignal,
): Promise<number> {
  const start = await chooseStart(db, before)
  if (start === undefined) return 0
  const kept = await readKept(db, before)
  let gone = 0
  // Of none at all when nothing is left.
  let left = most * mostStatements
  for (const [from, to] of [
    [start, before.toISOString()],
    ['-infinity', start],
  ] as const) {
    let after: Place | undefined = { at: from, runId: '0' }
    while (after !== undefined && !signal.aborted) {
      const step = await pruneSome(db, { after, to, before, most: Math.min(most, left), kept })
      gone += step.gone
      left -= step.looked
      after = step.last
    }
  }
  return gone
}

/** A time between the first run and `before`; undefined where there is none so old. */
async function chooseStart(db: Kysely<Database>, before: Date): Promise<string | undefined> {
  const { rows } = await sql<{ at: string | null }>`
    select (first + random() * (${before}::timestamptz - first))::text as at
    from (select min(started_at) as first from livehouse_ops.runs) as runs where first < ${before}`.execute(db)
  return rows[0]?.at ?? undefined
}

/** The last runs of each command, however they ended, and those that small tables refer to. */
async function readKept(db: Kysely<Database>, before: Date): Promise<readonly string[]> {
  const referring = sql.join(
    SMALL_TABLES.map((table) => sql`select run_id from ${sql.table(`livehouse_ops.${table}`)}`),
    sql` union `,
  )
  const { rows } = await sql<{ run_id: string }>`
    select last.run_id from ${runCommands} as commands cross join lateral (
      select run_id from ${tellingRun} as telling
      union all
      (select run_id from livehouse_ops.runs where command = commands.value order by finished_at desc nulls last, run_id desc limit 1)
      union all
      -- Killed.
      (select run_id from livehouse_ops.runs where command = commands.value and finished_at is null order by run_id desc limit 1)
    ) as last
    union
    select run_id from (${referring}) as referring join livehouse_ops.runs using (run_id) where started_at < ${before}`.execute(
    db,
  )
  return rows.map(({ run_id: runId }) => runId)
}

interface Some {
  readonly after: Place
  readonly to: string
  readonly before: Date
  readonly most: number
  readonly kept: readonly string[]
}

/** `last`: the last that was looked at; undefined when there are no more. */
async function pruneSome(db: Kysely<Database>, { after, to, before, most, kept }: Some) {
  const nothingRefers = INDEXED_TABLES.map(
    (table) =>
      sql`not exists (select from ${sql.table(`livehouse_ops.${table}`)} as referring where referring.run_id = old.run_id)`,
  )
  const { rows } = await sql<{ looked: string; gone: string; at: string; run_id: string }>`
    with old as materialized (
      select run_id, started_at, finished_at from livehouse_ops.runs
      where started_at < ${to}::timestamptz and (started_at, run_id) > (${after.at}::timestamptz, ${after.runId}::bigint)
      order by started_at, run_id limit ${most}
    ),
    free as (
      select run_id from old
      where (finished_at is null or finished_at < ${before}) and run_id <> all(${kept}::bigint[])
        and ${sql.join(nothingRefers, sql` and `)}
    ),
    gone as (
      delete from livehouse_ops.runs where run_id in (
        select run_id from livehouse_ops.runs where run_id in (select run_id from free) order by run_id for update skip locked)
      returning run_id
    )
    select (select count(*) from old) as looked, (select count(*) from gone) as gone, started_at::text as at, run_id
    from old order by started_at desc, run_id desc limit 1`.execute(db)
  const [row] = rows
  if (row === undefined) return { looked: 0, gone: 0, last: undefined }
  const looked = Number(row.looked)
  return { looked, gone: Number(row.gone), last: looked < most ? undefined : { at: row.at, runId: row.run_id } }
}

/** What one statement deletes of old records. */
export interface Pruning {
  /** What is older than this. */
  readonly before: Date
  readonly now: Date
  /** So many rows. */
  readonly most: number
}
