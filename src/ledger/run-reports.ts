import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { type Counts, noCounts } from '../core/outcome.ts'
import { type Proof, proofs } from '../core/slice.ts'
import type { Database } from '../store/database.ts'
import { hasEnded, type RecordedStatus, recordedStatus } from './runs.ts'

/** What a run did to one stream. */
export interface StreamReport {
  readonly stream: string
  readonly counts: Counts
  readonly slices: Readonly<Partial<Record<Proof, number>>>
}

/** A run as its record tells it. */
export interface RunReport {
  readonly runId: string
  readonly command: string
  readonly status: RecordedStatus
  readonly startedAt: Date
  readonly finishedAt: Date | null
  readonly resumesAt: Date | null
  /** Of a run that has not ended, what has landed so far: rows and calls, not yet what became of them. */
  readonly streams: readonly StreamReport[]
  readonly errorCount: number
}

/** Something that went wrong in a run. `message` may quote what the service said. */
export interface RunError {
  readonly stream: string | null
  readonly partition: string | null
  readonly code: string
  readonly message: string
}

/** Which runs: the last ones, one, or those that ended since others were seen. */
export type RunQuestion =
  | { readonly kind: 'last'; readonly count: number }
  | { readonly kind: 'one'; readonly runId: string }
  | { readonly kind: 'since'; readonly runId: string; readonly open: readonly string[]; readonly count: number }

/**
 * The newest first. The errors of a run are only counted: there may be thousands. `hasLeases`: false for a database of an older
 * livehouse.
 */
export async function readRunReports(
  db: Kysely<Database>,
  question: RunQuestion,
  hasLeases = true,
): Promise<readonly RunReport[]> {
  const { rows } = await sql<Omit<RunReport, 'streams'> & { readonly streams: unknown }>`
    select run_id as "runId", command, ${hasLeases ? recordedStatus : sql`status`} as status, started_at as "startedAt",
      finished_at as "finishedAt", resumes_at as "resumesAt", outcome->'streams' as streams,
      case when jsonb_typeof(outcome->'errors') = 'array' then jsonb_array_length(outcome->'errors') else 0 end as "errorCount"
    from livehouse_ops.runs where ${conditionOf(question)}
    order by run_id desc limit ${question.kind === 'one' ? 1 : question.count}`.execute(db)
  const withoutOutcome = rows.flatMap((run) => (hasEnded(run) ? [] : [run.runId]))
  const landed = withoutOutcome.length === 0 ? new Map<string, StreamReport[]>() : await readLanded(db, withoutOutcome)
  return rows.map((row) => ({ ...row, streams: landed.get(row.runId) ?? readStreams(row.streams) }))
}

/** The first `most` errors of a run. */
export async function readRunErrors(db: Kysely<Database>, runId: string, most: number): Promise<readonly RunError[]> {
  const { rows } = await sql<RunError>`
    select error->>'stream' as stream, error->>'partition' as partition, error->>'code' as code,
      left(error->>'message', 2000) as message
    from livehouse_ops.runs, jsonb_array_elements(
      case when jsonb_typeof(outcome->'errors') = 'array' then outcome->'errors' else '[]' end) with ordinality as e (error, n)
    where run_id = ${runId}::bigint order by n limit ${most}`.execute(db)
  return rows
}

function conditionOf(question: RunQuestion) {
  if (question.kind === 'last') return sql`true`
  if (question.kind === 'one') return sql`run_id = ${question.runId}::bigint`
  return sql`run_id > ${question.runId}::bigint or run_id = any(${question.open}::bigint[])`
}

async function readLanded(db: Kysely<Database>, runIds: readonly string[]) {
  const { rows } = await sql<LandedRow>`
    select run_id, stream, sum(distinct_rows) as extracted, sum(quarantined_rows) as quarantined, sum(calls) as calls,
      sum(retries) as retries, jsonb_object_agg(proof, slices) as slices
    from (
      select run_id, stream, proof, count(*) as slices, sum(distinct_rows) as distinct_rows,
        sum(quarantined_rows) as quarantined_rows, sum(calls) as calls, sum(retries) as retries
      from livehouse_ops.slices where run_id = any(${runIds}::bigint[]) group by run_id, stream, proof
    ) as counted group by run_id, stream order by stream`.execute(db)
  return Map.groupBy(
    rows.map((row) => ({ runId: row.run_id, ...reportOf(row.stream, row, row.slices) })),
    ({ runId }) => runId,
  )
}

const count = z.coerce.number().catch(0)
const slicesSchema = z.record(z.string(), count).catch({})
const streamsSchema = z
  .record(z.string(), z.looseObject({ slices: slicesSchema }))
  .nullable()
  .catch(null)

/** The outcome of a run may be of an older livehouse: what is not there counts as nothing. */
function readStreams(outcome: unknown): StreamReport[] {
  return Object.entries(streamsSchema.parse(outcome) ?? {}).map(([stream, facts]) =>
    reportOf(stream, facts, facts.slices),
  )
}

function reportOf(stream: string, facts: object, slices: Readonly<Record<string, number>>): StreamReport {
  const given = new Map<string, unknown>(Object.entries(facts))
  const counts = Object.keys(noCounts).map((name) => [name, count.parse(given.get(name) ?? 0)])
  return {
    stream,
    counts: { ...noCounts, ...Object.fromEntries(counts) },
    slices: Object.fromEntries(proofs.flatMap((proof) => (slices[proof] ? [[proof, slices[proof]]] : []))),
  }
}

interface LandedRow {
  readonly run_id: string
  readonly stream: string
  readonly extracted: string
  readonly quarantined: string
  readonly calls: string
  readonly retries: string
  readonly slices: Readonly<Record<string, number>>
}

/** What the runs that ended on one day of the service did together. */
export interface DayActivity {
  /** `YYYY-MM-DD`. */
  readonly day: string
  readonly inserted: number
  readonly updated: number
  readonly calls: number
  /** Of the calls, those that repeated one that was refused or had failed. */
  readonly retries: number
}

/** The runs of any span are few beside the rows that they brought; more than this are left out, oldest first. */
const MOST_RUNS = 5000

/** The days since `since` on which a run ended, in order. */
export async function readDailyActivity(
  db: Kysely<Database>,
  since: Date,
  timeZone: string,
): Promise<readonly DayActivity[]> {
  const { rows } = await sql<DayActivity>`
    with ended as (
      select * from (select * from livehouse_ops.runs order by run_id desc limit ${MOST_RUNS}) as latest
      where finished_at >= ${since} and jsonb_typeof(outcome->'streams') = 'object'
    )
    select (finished_at at time zone ${timeZone})::date::text as day,
      ${sum('inserted')}, ${sum('updated')}, ${sum('calls')}, ${sum('retries')}
    from ended, jsonb_each(outcome->'streams') as per (stream, facts)
    group by day order by day`.execute(db)
  return rows
}

function sum(name: string) {
  return sql`coalesce(sum((facts->>${sql.lit(name)})::bigint), 0)::float8 as ${sql.ref(name)}`
}
