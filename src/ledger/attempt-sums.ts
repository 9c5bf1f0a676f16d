import { type Kysely, sql } from 'kysely'
import { addCounts, noCounts, noSlices, type StreamOutcome } from '../core/outcome.ts'
import { isGreen, type Proof, partitionKey } from '../core/slice.ts'
import type { Database } from '../store/database.ts'
import { isOfPartition, type TablePart, tableOf } from '../store/table-part.ts'

/** The newest entry of the ledger, above which all later ones are; `0` where it has none. */
export async function readNewestSlice(db: Kysely<Database>): Promise<string> {
  const newest = db.selectFrom('livehouse_ops.slices').select(({ fn }) => fn.max('slice_id').as('id'))
  return (await newest.executeTakeFirst())?.id ?? '0'
}

/**
 * What attempts at a whole partition brought that ended before they could report it: by the readings of their run in the
 * ledger that are newer than `afterSlice`, and the rows that this run changed. Undefined where they landed nothing.
 */
export async function readEarlierAttempts(
  db: Kysely<Database>,
  part: TablePart,
  runId: string,
  afterSlice: string,
): Promise<StreamOutcome | undefined> {
  const readings = await db
    .selectFrom('livehouse_ops.slices')
    .select(['proof', 'distinct_rows', 'quarantined_rows', 'calls', 'retries'])
    .where('run_id', '=', runId)
    .where('stream', '=', part.stream.name)
    .where('partition', '=', partitionKey(part.partition))
    .where('slice_id', '>', afterSlice)
    .execute()
  if (readings.length === 0) return undefined
  const { rows } = await sql<{ inserted: string; changed: string }>`
    select count(*) filter (where changed_at = inserted_at) as inserted, count(*) as changed
    from ${tableOf(part)} as t where ${isOfPartition(part)} and run_id = ${runId}`.execute(db)
  const [inserted, changed] = [Number(rows[0]?.inserted), Number(rows[0]?.changed)]
  let counts = noCounts
  const slices = { ...noSlices }
  for (const { proof, distinct_rows, quarantined_rows, calls, retries } of readings) {
    const quarantined = Number(quarantined_rows)
    const extracted = Number(distinct_rows) + quarantined
    counts = addCounts(counts, { extracted, quarantined, calls: Number(calls), retries: Number(retries) })
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the ledger holds
    const known = proof as Proof
    if (isGreen(known)) slices[known]++
  }
  const unchanged = Math.max(0, counts.extracted - counts.quarantined - changed)
  return { counts: { ...counts, inserted, updated: changed - inserted, unchanged }, slices }
}
