import { type Kysely, sql } from 'kysely'
import { noSlices, type StreamOutcome } from '../core/outcome.ts'
import { isGreen, partitionKey, proofs } from '../core/slice.ts'
import type { Database } from '../store/database.ts'
import { isOfPartition, type TablePart, tableOf } from '../store/load/table-part.ts'
import { ops } from './ops.ts'
import { sumSlices } from './run-reports.ts'

/** The newest entry of the ledger, above which all later ones are; `0` where it has none. */
export async function readNewestSlice(db: Kysely<Database>): Promise<string> {
  const newest = ops(db)
    .selectFrom('slices')
    .select(({ fn }) => fn.max('sliceId').as('id'))
  return (await newest.executeTakeFirst())?.id ?? '0'
}

/**
 * What attempts at a whole partition brought that ended before they could report it: by the readings of their run in
 * the ledger that are newer than `afterSlice`, and the rows that this run changed. Undefined where they landed nothing.
 */
export async function readEarlierAttempts(
  db: Kysely<Database>,
  part: TablePart,
  runId: string,
  afterSlice: string,
): Promise<StreamOutcome | undefined> {
  const readings = ops(db).selectFrom('slices').where('runId', '=', runId).where('stream', '=', part.stream.name)
  const ofPart = readings.where('partition', '=', partitionKey(part.partition)).where('sliceId', '>', afterSlice)
  const [sums] = await sumSlices(ofPart)
  if (sums === undefined) return undefined
  // The table is the stream's.
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
