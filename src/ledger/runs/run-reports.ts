import { sql } from 'kysely'
import type { RunProblem } from '../../core/outcome.ts'
import { type Counts, noCounts, type Proof, proofs } from '../../core/slice.ts'
import type { Db } from '../../store/database.ts'
import { ops } from '../ops.ts'
import { type StreamReport, sumSlicesOfRuns } from '../slices/slices-of-runs.ts'
import { hasEnded, type RecordedStatus, recordedStatus, type SavedProgress } from './runs.ts'

/** A run on record. */
export type RunReport = Awaited<ReturnType<typeof readRunReports>>[number]

/** Something that went wrong in a run. `message` may quote the service. */
export type RunError = Pick<RunProblem, 'stream' | 'partition' | 'code' | 'message'>

/** Selects runs: all, those with a command or status, or one. */
interface RunFilter {
  readonly count: number
  readonly skip?: number
  readonly command?: string | undefined
  readonly status?: RecordedStatus | undefined
  readonly runId?: string
}

/** Reads runs, newest first. The errors of a run are only counted, as there may be thousands. */
export async function readRunReports(db: Db, { count, skip = 0, command, status, runId }: RunFilter) {
  const rows = await ops(db)
    .selectFrom('runs')
    .select(['runId', 'command', 'startedAt', 'finishedAt', 'resumesAt'])
    .select((run) => {
      // Reads parts of the document only, as the whole may hold thousands of errors.
      const part = <T>(path: string) => run.fn<T>('jsonb_path_query_first', ['outcome', run.val(path)])
      return [
        recordedStatus(run).as('status'),
        // By stream; null before the run begins to read, and for runs that read nothing.
        run.ref('progress').$castTo<Readonly<Record<string, SavedProgress>> | null>().as('progress'),
        part<RecordedStreams | null>('$.streams').as('recorded'),
        run.fn.coalesce(run.fn<number>('jsonb_array_length', [part('$.errors')]), run.lit(0)).as('errorCount'),
        part<string | null>('$.errors[0].message').as('firstError'),
      ]
    })
    .where((run) =>
      run.and([
        ...(command === undefined ? [] : [run('command', '=', command)]),
        ...(status === undefined ? [] : [run(recordedStatus(run), '=', status)]),
        ...(runId === undefined ? [] : [run('runId', '=', runId)]),
      ]),
    )
    .orderBy('runId', 'desc')
    .limit(count)
    .offset(skip)
    .execute()
  const open = rows.flatMap((run) => (hasEnded(run) ? [] : [run.runId]))
  const landedSoFar = await sumSlicesOfRuns(db, open)
  return rows.map(({ recorded, ...run }) => {
    const streams = Object.entries(recorded ?? {}).map(([stream, { slices = {}, ...counts }]): StreamReport => {
      const counted = proofs.flatMap((proof) => (slices[proof] ? [[proof, slices[proof]]] : []))
      return { stream, counts: { ...noCounts, ...counts }, slices: Object.fromEntries(counted) }
    })
    // A run that has not ended shows what has landed so far: rows and calls, not what was inserted or updated.
    return { ...run, streams: hasEnded(run) ? streams : landedSoFar.filter(({ runId }) => runId === run.runId) }
  })
}

type RecordedStreams = Readonly<Record<string, Partial<Counts> & { readonly slices?: Partial<Record<Proof, number>> }>>

/** The first errors of a run, up to `limit`. */
export async function readRunErrors(db: Db, runId: string, limit: number): Promise<readonly RunError[]> {
  const row = await ops(db)
    .selectFrom('runs')
    .select((eb) => eb.fn<readonly RunError[] | null>('jsonb_extract_path', ['outcome', eb.val('errors')]).as('errors'))
    .where('runId', '=', runId)
    .executeTakeFirst()
  return (row?.errors ?? []).slice(0, limit).map((error) => ({ ...error, message: error.message.slice(0, 2000) }))
}

/** Only the newest runs count, far more than a span of days has. */
const MAX_RUNS = 5000

/**
 * What the runs that ended since `since` did, by the service's day (`YYYY-MM-DD`) on which they ended and by stream, in
 * order. Retries are calls that repeated a refused or failed one.
 */
export async function readDailyActivity(db: Db, since: Date, timeZone: string) {
  // The builder cannot take JSON documents apart.
  type Sums = Record<'inserted' | 'updated' | 'calls' | 'retries', number>
  const { rows } = await sql<Readonly<Sums & Record<'day' | 'stream', string>>>`
    with ended as (
      select * from (select * from livehouse_ops.runs order by run_id desc limit ${MAX_RUNS}) as latest
      where finished_at >= ${since} and jsonb_typeof(outcome->'streams') = 'object'
    )
    select (finished_at at time zone ${timeZone})::date::text as day, stream,
      coalesce(sum(inserted), 0)::float8 as inserted, coalesce(sum(updated), 0)::float8 as updated,
      coalesce(sum(calls), 0)::float8 as calls, coalesce(sum(retries), 0)::float8 as retries
    from ended, jsonb_each(outcome->'streams') as per (stream, facts),
      jsonb_to_record(facts) as counted (inserted bigint, updated bigint, calls bigint, retries bigint)
    group by day, stream order by day, stream`.execute(db)
  return rows
}
