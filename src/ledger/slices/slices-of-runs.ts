import { type SelectQueryBuilder, sql } from 'kysely'
import type { StreamOutcome } from '../../core/outcome.ts'
import {
  addCounts,
  type Counts,
  isGreen,
  noCounts,
  noSlices,
  type Proof,
  parsePartition,
  partitionKey,
  proofs,
} from '../../core/slice.ts'
import type { Db } from '../../store/database.ts'
import { isOfPartition, type TablePart, tableOf } from '../../store/load/table-part.ts'
import { type Ops, ops } from '../ops.ts'
import { selectRunsSince } from '../runs/runs.ts'

/** What a run did to one stream. */
export interface StreamReport {
  readonly stream: string
  readonly counts: Counts
  readonly slices: Readonly<Partial<Record<Proof, number>>>
}

/** The channels that gave this run at least one slice without an error, proven or not. */
export async function readAnsweredChannels(db: Db, runId: string): Promise<ReadonlySet<string>> {
  const slices = ops(db).selectFrom('slices').select('partition').distinct().where('runId', '=', runId)
  const rows = await slices.where('proof', '!=', 'failed').execute()
  return new Set(rows.flatMap(({ partition }) => parsePartition(partition)?.channel ?? []))
}

/** What runs read of each stream: rows and calls, without how many rows were inserted or updated. */
export async function sumSlicesOfRuns(
  db: Db,
  runIds: readonly string[],
): Promise<readonly (StreamReport & { readonly runId: string })[]> {
  return runIds.length === 0 ? [] : await sumSlices(ops(db).selectFrom('slices').where('runId', 'in', runIds))
}

async function sumSlices(slices: SelectQueryBuilder<Ops, 'slices', unknown>) {
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

/**
 * What earlier attempts at a partition landed without reporting it, from the run's slices that are newer than
 * `afterSlice` and the rows that it changed; undefined if they landed nothing.
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

/**
 * The calls of all slices since `since`, of any process, by the hour in which the slice ended. An hour is named by its
 * beginning on the service's wall clock (`YYYY-MM-DD HH:MM:SS`); in order.
 */
export async function readHourlyCalls(db: Db, since: Date, timeZone: string) {
  // Finds slices through their runs, which are few: slices have no index by time. Hours in a zone are plainer in SQL.
  const { rows } = await sql<{ readonly hour: string; readonly calls: number; readonly retries: number }>`
    select date_trunc('hour', finished_at at time zone ${timeZone})::text as hour,
      sum(calls)::float8 as calls, sum(retries)::float8 as retries
    from livehouse_ops.slices
    where finished_at >= ${since} and run_id in (${selectRunsSince(db, since)})
    group by hour order by hour`.execute(db)
  return rows
}
