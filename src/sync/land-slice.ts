import type { Transaction } from 'kysely'
import { isEmptyWindow, partitionKey, placeOf, type Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { DAY } from '../core/wall-clock.ts'
import { updateChannel } from '../ledger/channels.ts'
import { hadAsManyQuarantined, resolveAbsent } from '../ledger/quarantine/quarantine.ts'
import { hasHeaders, recordHeaders } from '../ledger/questionnaires.ts'
import { AGREEMENT_SECONDS, readEarlierCoverage } from '../ledger/slices/earlier-readings.ts'
import { markUnsettled } from '../ledger/slices/forget-coverage.ts'
import { recordSlices, type SliceRecord } from '../ledger/slices/slices.ts'
import type { Database } from '../store/database.ts'
import { loadRows } from '../store/load/load.ts'
import {
  compareWithTable,
  countPartRows,
  findChangedRange,
  findFirstLasting,
  findLatestMinute,
  noDifference,
  type TablePart,
} from '../store/load/table-part.ts'
import type { BatchLoader } from './batch-loader.ts'
import { headersText } from './extract-unkeyed.ts'
import { isConclusive } from './judge-walk.ts'
import { recordPresentFields } from './record-slice.ts'
import { fetchUnlessRefused, MIN_ROWS, type SliceReading, widen } from './slice-reading.ts'
import type { EndedSlice, Extraction, FullVerdict, RunDeps, Slice, WalkSummary } from './slice-work.ts'
import { rowKey } from './walk.ts'
import { isOfDay, isReadTwice, lookbackStart, partUntil } from './windows.ts'

/**
 * Adds the headers of the questionnaire to an extraction. Some services leave them out of an empty answer. They are
 * then requested without a window, once a run, so that headers edited while nobody signed up are noticed. If the
 * service refuses such a long range, the minute of the latest signup is requested.
 *
 * @throws LivehouseError `api.…` of the call
 */
export async function completeHeaders(
  { slice, requests, deps: { db, timeZone } }: SliceReading,
  extraction: Extraction,
): Promise<Extraction> {
  const { stream, partition, window, covers } = slice
  const isNewest = window !== undefined && (covers === undefined || covers.to < window.to)
  const mayLackTitle = stream.wire.envelope?.title !== undefined && extraction.title === undefined
  if (!mayLackTitle || !isNewest || !isConclusive(extraction.verdict)) return extraction
  if (!(await hasHeaders(db, partitionKey(partition)))) return extraction
  const ask = async (range: Window | undefined) => {
    const list = { stream, partition, window: range && widen({ window: range }) }
    return await fetchUnlessRefused({ ...requests, list, pageSize: MIN_ROWS }, 1)
  }
  const unfiltered = await ask(undefined)
  const latest =
    'refusal' in unfiltered ? await findLatestMinute(db, { stream, partition, window: undefined, timeZone }) : undefined
  const page = latest ? await ask(latest) : unfiltered
  const title = 'refusal' in page ? undefined : page.title
  return title?.length ? { ...extraction, title: headersText(title) } : extraction
}

/** The effects of landing a slice, other than written rows. */
export interface Landing extends Pick<EndedSlice, 'proof' | 'otherProofs'> {
  readonly removed?: number
}

/**
 * Lands a slice: writes in one transaction its last rows, the facts about its channel, the marks on removed rows, and
 * its record in the ledger, so that coverage is never ahead of rows.
 */
export async function landSlice(
  { slice, deps, earlier: readEarlier }: SliceReading,
  { summary, found, title }: Extraction,
  verdict: FullVerdict,
  record: SliceRecord,
  loader: BatchLoader,
): Promise<Landing> {
  const { stream, partition } = slice
  const earlier = await readEarlier()
  const { clock, runId, timeZone } = deps
  const { channelFacts } = summary
  const at = new Date(clock.now())
  let landing: Landing = { proof: verdict.proof }
  await loader.finish(async (trx, written) => {
    // The list moved, so of the rows with the same key, the one that came last is the freshest.
    const latestRows = new Map(summary.repeated.map((row) => [rowKey(stream)(row), row]))
    await loadRows(trx, stream, [...latestRows.values()], runId, 'newer')
    const place = placeOf(slice)
    // Rows without an id from a short reading are not written, so no row has these headers.
    const isWritten = verdict.proof !== 'short' || verdict.isDrop
    const agreeing = await readAgreeing(trx, record, stream)
    const mayMiss = stream.marksRemoved || agreeing.seen !== '{}'
    const unreadable = summary.rejected.length
    const read = { ...place, runId, window: slice.requestWindow ?? slice.window }
    const hasNewUnreadable = unreadable > 0 && !(await hadAsManyQuarantined(trx, read, unreadable))
    const { removed, disputed } =
      isConclusive(verdict) && mayMiss
        ? await compareWithTable(trx, { ...slice, timeZone }, found, {
            runId,
            at,
            missedBy: missedBy(stream, summary, at),
            mayBeUnread: hasNewUnreadable,
            isAllRead: unreadable === 0,
          })
        : noDifference
    const hasWritten = slice.hasWritten === true || written.inserted + written.updated + removed > 0
    const isEmpty = summary.received === 0
    const reading = { record, earlier: agreeing, hasWritten, disputed, hasNewUnreadable, isEmpty }
    const records = await settleReading(trx, slice, reading, deps)
    const otherProofs = records.map(({ proof }) => proof)
    landing = { removed, proof: otherProofs.pop() ?? verdict.proof, otherProofs }
    if (isWritten && title !== undefined) await recordHeaders(trx, { ...place, title, runId, seenAt: at })
    const origin = { ...place, runId, seenAt: at, timeZone, requestWindow: widen(slice) }
    // An unreadable item that did not come again is gone from the source, unless the answer is empty.
    const mayResolve = earlier.hasWaiting && isConclusive(verdict) && !isEmpty
    await recordSlices(trx, records)
    if (mayResolve) await resolveAbsent(trx, origin, summary.rejected, { isDaily: isOfDay(stream) })
    await recordPresentFields(trx, slice, summary, earlier)
    if (channelFacts && partition.channel) await updateChannel(trx, partition.channel, channelFacts, runId)
  })
  return landing
}

/**
 * The time by which an earlier reading must have missed a row so that this one marks it as removed: for an empty answer
 * an hour before, as for a second reading without a total. Undefined if rows are not marked, or keys came twice.
 */
function missedBy({ marksRemoved }: Stream, { received, repeated }: WalkSummary, at: Date): Date | undefined {
  if (!marksRemoved || repeated.length > 0) return undefined
  return received > 0 ? at : new Date(at.getTime() - AGREEMENT_SECONDS * 1000)
}

interface LandingReading {
  readonly record: SliceRecord
  readonly earlier: Awaited<ReturnType<typeof readAgreeing>>
  /** Whether it has written or marked rows. */
  readonly hasWritten: boolean
  /** Keys of the rows on which this reading and the previous one disagree. */
  readonly disputed: readonly string[]
  /** Whether it brought more unreadable items than earlier readings. The next reading may be able to read them. */
  readonly hasNewUnreadable: boolean
  readonly isEmpty: boolean
}

/** The earlier readings that this one can agree with. In a list without a total, their page size must be different. */
async function readAgreeing(trx: Transaction<Database>, record: SliceRecord, stream: Stream) {
  const { window, partition, startedAt, pageSize } = record
  if (window === undefined) return { seen: '{}', comparedTo: undefined }
  const endedBy = new Date(startedAt.getTime() - AGREEMENT_SECONDS * 1000)
  const place = { ...placeOf({ stream, partition }), window }
  return await readEarlierCoverage(trx, place, { endedBy, pageSize: isReadTwice(stream) ? pageSize : undefined })
}

/**
 * Returns the records of a reading for the ledger. The part of its range that is at rest ends before the first row that
 * the reading changed or missed. A verified reading may be at rest as a whole, any other only where readings at least
 * an hour earlier covered it, too. In a list without a total that part is `agreed`, and what was read for the first
 * time is a slice of its own. The last record counts for the partition: `agreed`, unless something differed. A settled
 * range that has changed is unsettled. An empty answer settles only what earlier readings covered, and nothing if rows
 * are known, removed or not: a service may return nothing for some nights.
 */
async function settleReading(
  trx: Transaction<Database>,
  slice: Slice,
  { record, earlier, hasWritten, disputed, hasNewUnreadable, isEmpty }: LandingReading,
  deps: RunDeps,
): Promise<readonly SliceRecord[]> {
  const { runId, timeZone } = deps
  const { window, covers, proof, isDrop } = record
  if (window === undefined) return [record]
  const { stream, partition } = slice
  const part = { stream, partition, window, timeZone }
  const hasChanges = disputed.length > 0 || (earlier.seen !== '{}' && hasWritten)
  const changed = hasChanges ? await findChangedRange(trx, part, { seen: earlier.seen, disputed, runId }) : undefined
  if (changed) await markUnsettled(trx, { ...placeOf(slice), window: changed })

  const isLanded = proof === 'verified' || proof === 'unverifiable' || proof === 'accepted'
  if (covers === undefined || !isLanded || (isReadTwice(stream) && isDrop)) return [record]
  const withRemoved = { ...part, stream: { ...stream, marksRemoved: false } }
  if (isEmpty && stream.marksRemoved && (await countPartRows(trx, withRemoved)) > 0) return [record]
  const isSure = proof === 'verified' && !isDrop && !hasNewUnreadable && !isEmpty
  const confirmedTo = isSure ? covers.to : (earlier.comparedTo ?? covers.from)
  const atRest: Window = { from: covers.from, to: Math.min(confirmedTo, covers.to, changed?.from ?? covers.to) }
  if (isEmptyWindow(atRest)) return [record]
  const settled = await settledPart(trx, { ...part, window: atRest }, record, deps)
  if (!isReadTwice(stream)) return [{ ...record, settled }]
  const agreed: SliceRecord = { ...record, proof: 'agreed', settled, covers: atRest, pageSize: undefined }
  if (atRest.to === covers.to) return [agreed]
  const distinctRows = await countPartRows(trx, { ...part, window: atRest })
  const agreedPart = { ...agreed, window: atRest, distinctRows, quarantinedRows: 0, calls: 0, retries: 0 }
  const { to: from } = atRest
  const freshRows = Math.max(0, record.distinctRows - distinctRows)
  const fresh = { ...record, covers: { from, to: covers.to }, window: { from, to: window.to }, distinctRows: freshRows }
  return changed ? [agreedPart, fresh] : [fresh, agreedPart]
}

/** A visit is still open if its last time is at most this far from the reading. */
const OPEN_MS = AGREEMENT_SECONDS * 1000
/** Some services never end a visit. One that began this long before the lookback no longer prevents settling. */
const MAX_OPEN_DAYS = 28

/** The part of a range at rest that is settled: up to the lookback, or up to an earlier visit that is still open. */
async function settledPart(
  trx: Transaction<Database>,
  { window, ...part }: TablePart & { readonly window: Window },
  { startedAt, lookbackDays }: SliceRecord,
  { wallTimeAt, claimableMs }: RunDeps,
): Promise<Window | undefined> {
  const readAtMs = Math.min(startedAt.getTime(), claimableMs())
  const restsBefore = lookbackStart(wallTimeAt(readAtMs), lookbackDays)
  // If this reading has a shorter lookback than the stream, other runs still re-read the stream's own lookback.
  const lookbackFrom = Math.min(restsBefore, lookbackStart(wallTimeAt(readAtMs), part.stream.lookbackDays))
  const searchFrom = Math.max(window.from, lookbackFrom - MAX_OPEN_DAYS * DAY)
  const search = { from: searchFrom, to: Math.min(window.to, lookbackFrom) }
  const [openFrom, openTo] = [new Date(readAtMs - OPEN_MS), new Date(readAtMs + OPEN_MS)]
  const mayBeOpen = part.stream.timeColumns.length > 1 && !isEmptyWindow(search)
  const firstOpen = mayBeOpen ? await findFirstLasting(trx, { ...part, window: search }, openFrom, openTo) : undefined
  return partUntil(window, firstOpen ?? restsBefore)
}
