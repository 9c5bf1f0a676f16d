import { type Kysely, sql } from 'kysely'
import { type Counts, noCounts } from '../core/outcome.ts'
import { type Proof, proofs } from '../core/slice.ts'
import type { Database } from '../store/database.ts'
import { hasEnded, type RecordedStatus, recordedStatus, type SavedProgress } from './runs.ts'

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
  /** By stream; null before it has begun to read, and for what reads nothing. */
  readonly progress: Readonly<Record<string, SavedProgress>> | null
}

/** Something that went wrong in a run. `message` may quote what the service said. */
export interface RunError {
  readonly stream: string | null
  readonly partition: string | null
  readonly code: string
  readonly message: string
}

/** Which runs: the last ones, all or of a command or status, or one. */
export type RunQuestion =
  | {
      readonly kind: 'last'
      readonly count: number
      readonly skip?: number
      readonly command?: string | undefined
      readonly status?: RecordedStatus | undefined
    }
  | { readonly kind: 'one'; readonly runId: string }

/** The newest first. The errors of a run are only counted: there may be thousands. */
export async function readRunReports(db: Kysely<Database>, question: RunQuestion): Promise<readonly RunReport[]> {
  const rows = await db
    .selectFrom('livehouse_ops.runs')
    .select(['run_id as runId', 'command', 'started_at as startedAt', 'finished_at as finishedAt'])
    .select(['resumes_at as resumesAt', recordedStatus.as('status')])
    .select(sql<RunReport['progress']>`progress`.as('progress'))
    // Parts of a document: the whole of it may hold thousands of errors.
    .select(sql<RecordedStreams | null>`outcome->'streams'`.as('recorded'))
    .select(sql<number>`coalesce(jsonb_array_length(outcome->'errors'), 0)`.as('errorCount'))
    .where((run) => {
      if (question.kind === 'one') return run('run_id', '=', question.runId)
      const { command, status } = question
      const ofCommand = command === undefined ? run.lit(true) : run('command', '=', command)
      return status === undefined ? ofCommand : run.and([ofCommand, run(recordedStatus, '=', status)])
    })
    .orderBy('run_id', 'desc')
    .limit(question.kind === 'one' ? 1 : question.count)
    .offset(question.kind === 'last' ? (question.skip ?? 0) : 0)
    .execute()
  const withoutOutcome = rows.flatMap((run) => (hasEnded(run) ? [] : [run.runId]))
  const landed = withoutOutcome.length === 0 ? new Map<string, StreamReport[]>() : await readLanded(db, withoutOutcome)
  return rows.map(({ recorded, ...row }) => {
    const streams = Object.entries(recorded ?? {}).map(([stream, { slices = {}, ...counts }]) => {
      return { stream, counts: { ...noCounts, ...counts }, slices: withoutZeros(slices) }
    })
    return { ...row, streams: landed.get(row.runId) ?? streams }
  })
}

/** As the contract's JSON has them. */
type RecordedStreams = Readonly<Record<string, Partial<Counts> & { readonly slices?: Partial<Record<Proof, number>> }>>

/** The first `most` errors of a run. */
export async function readRunErrors(db: Kysely<Database>, runId: string, most: number): Promise<readonly RunError[]> {
  const row = await db
    .selectFrom('livehouse_ops.runs')
    .select(sql<readonly RunError[] | null>`outcome->'errors'`.as('errors'))
    .where('run_id', '=', runId)
    .executeTakeFirst()
  return (row?.errors ?? []).slice(0, most).map((error) => ({ ...error, message: error.message.slice(0, 2000) }))
}

async function readLanded(db: Kysely<Database>, runIds: readonly string[]) {
  const rows = await db
    .selectFrom('livehouse_ops.slices')
    .select(({ fn }) => [
      'run_id',
      'stream',
      'proof',
      fn.countAll().as('slices'),
      fn.sum('distinct_rows').as('extracted'),
      fn.sum('quarantined_rows').as('quarantined'),
      fn.sum('calls').as('calls'),
      fn.sum('retries').as('retries'),
    ])
    .where('run_id', 'in', runIds)
    .groupBy(['run_id', 'stream', 'proof'])
    .orderBy('stream')
    .execute()
  const groups = Map.groupBy(rows, ({ run_id, stream }) => JSON.stringify([run_id, stream]))
  const reports = [...groups.values()].flatMap((group) => {
    const sum = (name: 'extracted' | 'quarantined' | 'calls' | 'retries') =>
      group.reduce((total, row) => total + Number(row[name]), 0)
    const [first] = group
    if (first === undefined) return []
    const slices = Object.fromEntries(group.map(({ proof, slices: count }) => [proof, Number(count)]))
    const read = { extracted: sum('extracted'), quarantined: sum('quarantined') }
    const counts = { ...noCounts, ...read, calls: sum('calls'), retries: sum('retries') }
    return [{ runId: first.run_id, stream: first.stream, counts, slices: withoutZeros(slices) }]
  })
  return Map.groupBy(reports, ({ runId }) => runId)
}

function withoutZeros(slices: Partial<Record<string, number>>): StreamReport['slices'] {
  return Object.fromEntries(proofs.flatMap((proof) => (slices[proof] ? [[proof, slices[proof]]] : [])))
}

/** What the runs that ended on one day of the service did to one stream together. */
export interface DayActivity {
  /** `YYYY-MM-DD`. */
  readonly day: string
  readonly stream: string
  readonly inserted: number
  readonly updated: number
  readonly calls: number
  /** Of the calls, those that repeated one that was refused or had failed. */
  readonly retries: number
}

/** The runs of any span are few beside the rows that they brought; more than this are left out, oldest first. */
const MOST_RUNS = 5000

/** The days since `since` on which a run ended, and the streams that it had to do with, in order. */
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
    select (finished_at at time zone ${timeZone})::date::text as day, stream,
      ${sum('inserted')}, ${sum('updated')}, ${sum('calls')}, ${sum('retries')}
    from ended, jsonb_each(outcome->'streams') as per (stream, facts)
    group by day, stream order by day, stream`.execute(db)
  return rows
}

function sum(name: string) {
  return sql`coalesce(sum((facts->>${sql.lit(name)})::bigint), 0)::float8 as ${sql.ref(name)}`
}
