import { type SelectQueryBuilder, sql } from 'kysely'
import type { RunProblem, StreamOutcome } from '../../core/outcome.ts'
import {
  addCounts,
  type Counts,
  isGreen,
  noCounts,
  noSlices,
  partitionKey,
  type Place,
  type Proof,
  proofs,
} from '../../core/slice.ts'
import type { Db } from '../../store/database.ts'
import { isOfPartition, type TablePart, tableOf } from '../../store/load/table-part.ts'
import { isAt, type Ops, ops, type Row } from '../ops.ts'
import { hasEnded, type RecordedStatus, recordedStatus, type SavedProgress } from './runs.ts'

/** What a run did to one stream. */
export interface StreamReport {
  readonly stream: string
  readonly counts: Counts
  readonly slices: Readonly<Partial<Record<Proof, number>>>
}

/** A run on record. */
export interface RunReport extends Pick<Row<'runs'>, 'runId' | 'command' | 'startedAt' | 'finishedAt' | 'resumesAt'> {
  readonly status: RecordedStatus
  /** Of a run that has not ended, what has landed so far: rows and calls, not yet what became of them. */
  readonly streams: readonly StreamReport[]
  readonly errorCount: number
  /** By stream; null before it has begun to read, and for what reads nothing. */
  readonly progress: Readonly<Record<string, SavedProgress>> | null
}

/** Something that went wrong in a run. `message` may quote what the service said. */
export type RunError = Pick<RunProblem, 'stream' | 'partition' | 'code' | 'message'>

/** Which runs: all, those of a command or status, or one. */
export interface RunQuestion {
  readonly count: number
  readonly skip?: number
  readonly command?: string | undefined
  readonly status?: RecordedStatus | undefined
  readonly runId?: string
}

/** The newest first. The errors of a run are only counted: there may be thousands. */
export async function readRunReports(
  db: Db,
  { count, skip = 0, command, status, runId }: RunQuestion,
): Promise<readonly RunReport[]> {
  const rows = await ops(db)
    .selectFrom('runs')
    .select(['runId', 'command', 'startedAt', 'finishedAt', 'resumesAt'])
    .select((run) => {
      // Parts of a document: the whole of it may hold thousands of errors.
      const part = <T>(name: string) => run.fn<T>('jsonb_extract_path', ['outcome', run.val(name)])
      return [
        recordedStatus.as('status'),
        run.ref('progress').$castTo<RunReport['progress']>().as('progress'),
        part<RecordedStreams | null>('streams').as('recorded'),
        run.fn.coalesce(run.fn<number>('jsonb_array_length', [part('errors')]), run.lit(0)).as('errorCount'),
      ]
    })
    .where((run) =>
      run.and([
        ...(command === undefined ? [] : [run('command', '=', command)]),
        ...(status === undefined ? [] : [run(recordedStatus, '=', status)]),
        ...(runId === undefined ? [] : [run('runId', '=', runId)]),
      ]),
    )
    .orderBy('runId', 'desc')
    .limit(count)
    .offset(skip)
    .execute()
  const open = rows.flatMap((run) => (hasEnded(run) ? [] : [run.runId]))
  const landed = open.length === 0 ? [] : await sumSlices(ops(db).selectFrom('slices').where('runId', 'in', open))
  return rows.map(({ recorded, ...run }) => {
    const streams = Object.entries(recorded ?? {}).map(([stream, { slices = {}, ...counts }]) => {
      const found = proofs.flatMap((proof) => (slices[proof] ? [[proof, slices[proof]]] : []))
      return { stream, counts: { ...noCounts, ...counts }, slices: Object.fromEntries(found) }
    })
    return { ...run, streams: hasEnded(run) ? streams : landed.filter(({ runId }) => runId === run.runId) }
  })
}

/** As in the run's JSON summary. */
type RecordedStreams = Readonly<Record<string, Partial<Counts> & { readonly slices?: Partial<Record<Proof, number>> }>>

/** The first `most` errors of a run. */
export async function readRunErrors(db: Db, runId: string, most: number): Promise<readonly RunError[]> {
  const row = await ops(db)
    .selectFrom('runs')
    .select((eb) => eb.fn<readonly RunError[] | null>('jsonb_extract_path', ['outcome', eb.val('errors')]).as('errors'))
    .where('runId', '=', runId)
    .executeTakeFirst()
  return (row?.errors ?? []).slice(0, most).map((error) => ({ ...error, message: error.message.slice(0, 2000) }))
}

/** What slices brought, by run and stream: rows and calls, not what became of them. */
async function sumSlices(
  slices: SelectQueryBuilder<Ops, 'slices', unknown>,
): Promise<readonly (StreamReport & { readonly runId: string })[]> {
  const rows = await slices
    .select(({ fn }) => ['runId', 'stream', 'proof', fn.countAll<string>().as('count')])
    .select(({ fn }) => [fn.sum('distinctRows').as('distinct'), fn.sum('quarantinedRows').as('quarantined')])
    .select(({ fn }) => [fn.sum('calls').as('calls'), fn.sum('retries').as('retries')])
    .groupBy(['runId', 'stream', 'proof'])
    .orderBy('stream')
    .execute()
  const sums = new Map<string, StreamReport & { readonly runId: string }>()
  for (const { runId, stream, proof, count, ...row } of rows) {
    const key = `${runId} ${stream}`
    const before = sums.get(key)
    const quarantined = Number(row.quarantined)
    const extracted = Number(row.distinct) + quarantined
    const read = { extracted, quarantined, calls: Number(row.calls), retries: Number(row.retries) }
    const counts = addCounts(before?.counts ?? noCounts, read)
    sums.set(key, { runId, stream, counts, slices: { ...before?.slices, [proof]: Number(count) } })
  }
  return [...sums.values()]
}

/** The number of the newest slice, `0` where there is none; later ones have larger numbers. */
export async function readNewestSlice(db: Db): Promise<string> {
  const newest = ops(db)
    .selectFrom('slices')
    .select(({ fn }) => fn.max('sliceId').as('id'))
  return (await newest.executeTakeFirst())?.id ?? '0'
}

/** Whether any reading of a partition is newer than an entry of the ledger. */
export async function hasSliceAfter(db: Db, place: Place, sliceId: string): Promise<boolean> {
  const slices = ops(db).selectFrom('slices').select('sliceId').where(isAt(place)).where('sliceId', '>', sliceId)
  return (await slices.limit(1).execute()).length > 0
}

/**
 * What earlier attempts at a partition landed without reporting it, by the slices of the run that are newer than
 * `afterSlice`, and by the rows that the run changed. Undefined where they landed nothing.
 */
export async function readEarlierAttempts(
  db: Db,
  part: TablePart,
  runId: string,
  afterSlice: string,
): Promise<StreamOutcome | undefined> {
  const readings = ops(db).selectFrom('slices').where('runId', '=', runId).where('stream', '=', part.stream.name)
  const ofPart = readings.where('partition', '=', partitionKey(part.partition)).where('sliceId', '>', afterSlice)
  const [sums] = await sumSlices(ofPart)
  if (sums === undefined) return undefined
  // The builder does not know the tables of streams.
  const { rows } = await sql<{ inserted: string; changed: string }>`
    select count(*) filter (where changed_at = inserted_at) as inserted, count(*) as changed
    from ${tableOf(part)} as t where ${isOfPartition(part)} and run_id = ${runId}`.execute(db)
  const [inserted, changed] = [Number(rows[0]?.inserted), Number(rows[0]?.changed)]
  const { extracted, quarantined } = sums.counts
  const unchanged = Math.max(0, extracted - quarantined - changed)
  const slices = { ...noSlices }
  for (const proof of proofs.filter(isGreen)) slices[proof] = sums.slices[proof] ?? 0
  return { counts: { ...sums.counts, inserted, updated: changed - inserted, unchanged }, slices }
}

/** The sums of one stream over all runs that ended on one day of the service. */
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

/** One row a day since `since` and stream of the runs that ended then, in order. */
export async function readDailyActivity(db: Db, since: Date, timeZone: string): Promise<readonly DayActivity[]> {
  // The builder cannot take JSON documents apart.
  const { rows } = await sql<DayActivity>`
    with ended as (
      select * from (select * from livehouse_ops.runs order by run_id desc limit ${MOST_RUNS}) as latest
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

/** The calls of all slices that ended in one hour. */
export interface HourActivity extends Pick<DayActivity, 'calls' | 'retries'> {
  /** When it began, by the service's wall clock: `YYYY-MM-DD HH:MM:SS`. */
  readonly hour: string
}

/** The hours since `since` in which a slice ended, whichever process read it, in order. */
export async function readHourlyCalls(db: Db, since: Date, timeZone: string): Promise<readonly HourActivity[]> {
  // By their runs, which are few: slices have no index by time. Hours of a zone are plainer in SQL.
  const { rows } = await sql<HourActivity>`
    select date_trunc('hour', finished_at at time zone ${timeZone})::text as hour,
      sum(calls)::float8 as calls, sum(retries)::float8 as retries
    from livehouse_ops.slices
    where finished_at >= ${since} and run_id in (
      select run_id from livehouse_ops.runs where finished_at is null or finished_at >= ${since})
    group by hour order by hour`.execute(db)
  return rows
}
