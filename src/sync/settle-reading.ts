import type { Transaction } from 'kysely'
import { isEmptyWindow, partitionKey, type Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import { type EarlierCoverage, readEarlierCoverage, readLastPageSizes, unsettle } from '../ledger/settled-ranges.ts'
import type { SliceRecord } from '../ledger/slices.ts'
import { findChangedRange } from '../store/history.ts'
import { countHeld } from '../store/table-part.ts'
import { settledPart } from './plan-windows.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** How long after a reading of a list without a total another one can agree with it. */
export const AGREEMENT_SECONDS = 3600

/** On smaller pages a few rows that the service hides would be an empty page, which ends a list. */
const FEWEST_ROWS = 10

/** What a reading came to, before it lands. */
export interface LandingReading {
  readonly record: SliceRecord
  readonly earlier: EarlierCoverage
  /** Whether it has written or marked any row. */
  readonly hasWritten: boolean
  /** Keys of rows of which it and the reading before it do not say the same. */
  readonly disputed: readonly string[]
}

/** Whether no total proves a list, so that it is read a second time. Few calls a day do not allow for that. */
export function isReadTwice({ isCounted, isTimeFiltered, isBudgeted }: Stream): boolean {
  return isTimeFiltered && !isCounted && isBudgeted !== true
}

/** What a reading can be held against: all earlier ones, but of a list without a total only those that it can agree with. */
export async function readEarlierOf(
  trx: Transaction<Database>,
  record: SliceRecord,
  stream: Stream,
): Promise<EarlierCoverage> {
  const { window, partition, startedAt, pageSize } = record
  if (window === undefined) return { seen: '{}', comparedTo: undefined }
  const endedBy = new Date(startedAt.getTime() - AGREEMENT_SECONDS * 1000)
  const place = { stream: stream.name, partition: partitionKey(partition), window }
  return await readEarlierCoverage(trx, place, isReadTwice(stream) ? { endedBy, pageSize } : undefined)
}

/**
 * What the ledger keeps of a reading: what of it is at rest, up to the first row that it changed or missed. Of a list with a
 * total that is what it changed nothing of, or read for the first time and verified. Of one without, what it held the same as
 * readings at least an hour earlier: that is `agreed`, and a slice of its own where the rest was read for the first time.
 * What had settled and has changed is settled no longer.
 */
export async function settleReading(
  trx: Transaction<Database>,
  { stream, partition }: Slice,
  { record, earlier, hasWritten, disputed }: LandingReading,
  { runId, timeZone, wallTimeAt, claimableMs }: RunDeps,
): Promise<readonly SliceRecord[]> {
  const { window, covers, proof, startedAt, isDrop } = record
  if (window === undefined) return [record]
  const place = { stream: stream.name, partition: partitionKey(partition) }
  const part = { stream, partition, window, timeZone }
  const isAnyChanged = earlier.seen !== '{}' && (hasWritten || disputed.length > 0)
  const changed = isAnyChanged ? await findChangedRange(trx, part, { seen: earlier.seen, disputed, runId }) : undefined
  if (changed) await unsettle(trx, { ...place, window: changed })

  const isLanded = proof === 'verified' || proof === 'unverifiable' || proof === 'accepted'
  if (covers === undefined || !isLanded || (isReadTwice(stream) && isDrop)) return [record]
  const restTo = proof === 'verified' && !isDrop ? covers.to : (earlier.comparedTo ?? covers.from)
  const rest: Window = { from: covers.from, to: Math.min(restTo, covers.to, changed?.from ?? covers.to) }
  if (isEmptyWindow(rest)) return [record]
  const lookbackDays = record.lookbackDays ?? stream.lookbackDays
  const settled = settledPart(rest, wallTimeAt(Math.min(startedAt.getTime(), claimableMs())), lookbackDays)
  if (!isReadTwice(stream)) return [{ ...record, settled }]
  const agreed: SliceRecord = { ...record, proof: 'agreed', settled, covers: rest, pageSize: undefined }
  if (rest.to === covers.to) return [agreed]
  const distinctRows = await countHeld(trx, { ...part, window: rest })
  const [behind, read] = [covers, window].map(({ to }) => ({ from: rest.to, to }))
  return [
    { ...agreed, window: rest, distinctRows, quarantinedRows: 0, calls: 0, retries: 0 },
    { ...record, covers: behind, window: read, distinctRows: Math.max(0, record.distinctRows - distinctRows) },
  ]
}

/**
 * How many rows of a page to ask for: every other time one less than the service has served, so that rows lie on other pages, and
 * what goes wrong at the borders of pages shows.
 */
export async function choosePageSize(
  { stream, partition, window }: Slice,
  { db }: Pick<RunDeps, 'db'>,
): Promise<number> {
  if (window === undefined || !isReadTwice(stream)) return stream.pageSize
  const place = { stream: stream.name, partition: partitionKey(partition), window }
  const [last = 0, before = 0] = await readLastPageSizes(db, place)
  return last < before || last <= FEWEST_ROWS ? stream.pageSize : Math.min(stream.pageSize, last - 1)
}
