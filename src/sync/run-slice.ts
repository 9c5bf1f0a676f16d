import { LivehouseError } from '../core/errors.ts'
import { type Counts, describeList, isGreen, noCounts, placeOf } from '../core/slice.ts'
import { DAY } from '../core/wall-clock.ts'
import { readLastPageSizes } from '../ledger/slices/earlier-readings.ts'
import { readMissedRows } from '../store/load/table-part.ts'
import { createBatchLoader, type RowLoader } from './batch-loader.ts'
import { cutShortened, cutSlice, mostPagesUncut } from './cut-slice.ts'
import { extractKeyed } from './extract-keyed.ts'
import { extractUnkeyed } from './extract-unkeyed.ts'
import { isConclusive, judgeReading } from './judge-walk.ts'
import { completeHeaders, type Landing, landSlice } from './land-slice.ts'
import { checkItems, openSliceLog, readableOf, shortfall } from './record-slice.ts'
import { announceParts, cutToServed, mayBeSearched, mayBeTooLong, searchWithin, splitSlice } from './slice-parts.ts'
import type { CallMeter, SliceReading } from './slice-reading.ts'
import { createCallMeter, fetchUnlessRefused, MIN_ROWS, openReading, widen } from './slice-reading.ts'
import type { CutSlice, EndedSlice, Extraction, ReadResult, RunDeps, Slice } from './slice-work.ts'
import { mayBeLimit, rowKey, rowsOf } from './walk.ts'
import { isReadTwice, MIN_WINDOW, readableUntil } from './windows.ts'

export function failedBy(error: unknown): EndedSlice {
  return { kind: 'ended', proof: 'failed', counts: noCounts, error, found: undefined }
}

/**
 * Extracts one slice: reads its pages, loads the rows, compares their count with the source's total, and records the
 * slice in the ledger in the transaction of its last rows. A failed slice may leave rows, but no coverage.
 *
 * Errors are returned as part of the result, so that a failing slice does not stop the others.
 */
export async function runSlice(slice: Slice, deps: RunDeps): Promise<EndedSlice | CutSlice> {
  const meter = createCallMeter()
  const log = openSliceLog(slice, deps, meter)
  let loader = createBatchLoader(slice, deps)
  let extraction: Extraction | undefined

  const end = ({ removed = 0, ...proofs }: Landing, error: unknown): EndedSlice => {
    const counts = { ...countsOf(extraction, loader.counts()), removed, ...meter.counts() }
    log.end(proofs.proof, counts, error)
    return { kind: 'ended', ...proofs, counts, error, found: extraction?.found }
  }
  try {
    let reading = await openAtOtherSize((await widenRequest(slice, deps)) ?? slice, deps, meter)
    const isWidened = reading.slice !== slice
    let read = isWidened ? await readIfProven(reading, loader) : undefined
    if (isWidened && read === undefined) {
      // The loader of the wider reading may hold rows, so the planned one gets a loader of its own.
      loader = createBatchLoader(slice, deps)
      reading = openReading(slice, deps, meter, reading.requests.pageSize)
    }
    read ??= await extractSlice(reading, loader)
    if (read.kind === 'cut') {
      const { inserted, updated } = loader.counts()
      const parts = read.parts.map((part) => (inserted + updated > 0 ? { ...part, hasWritten: true } : part))
      return { kind: 'cut', parts, counts: { inserted, updated, ...meter.counts() } }
    }
    extraction = await completeHeaders(reading, read)
    await checkItems(reading, { ...extraction.summary, ...readableOf(extraction.summary) })
    const verdict = await judgeReading(reading, extraction)
    if (verdict.proof === 'accepted') await loader.add(extraction.unproven ?? [])
    const record = { ...log.record(verdict, extraction, reading.claimed()), pageSize: extraction.pageSize }
    const landing = await landSlice(reading, extraction, verdict, record, loader)
    return end(landing, isGreen(landing.proof) ? undefined : shortfall(slice, verdict.reason))
  } catch (error) {
    await loader.drain()
    return end({ proof: 'failed' }, await log.recordFailure(error, extraction))
  }
}

/**
 * Opens the reading of a slice. Every other reading of a list without a total asks for one row less than the service
 * served last time, so that rows lie on other pages, and faults at page borders show.
 */
async function openAtOtherSize(slice: Slice, deps: RunDeps, meter: CallMeter): Promise<SliceReading> {
  const { stream, window } = slice
  const isAlternating = window !== undefined && isReadTwice(stream)
  const [last = 0, before = 0] = isAlternating ? await readLastPageSizes(deps.db, { ...placeOf(slice), window }) : []
  if (last < before || last <= MIN_ROWS || last > stream.pageSize) return openReading(slice, deps, meter)
  const reading = openReading(slice, deps, meter, last - 1)
  const pageSize = await reading.tryPageSize(last - 1, 2)
  return pageSize === last - 1 ? reading : openReading(slice, deps, meter, pageSize)
}

/**
 * Widens the request of a slice that may mark rows as removed by a day on both sides, but not into the future: if the
 * service filters by another time than it shows, or in another time zone, it does not return existing rows near the
 * ends of a range. Undefined if no row is waiting to be marked.
 */
async function widenRequest(slice: Slice, { db, wallTimeAt, claimableMs }: RunDeps): Promise<Slice | undefined> {
  const { stream, window } = slice
  if (window === undefined || !stream.marksRemoved || (await readMissedRows(db, placeOf(slice))) === 0) return undefined
  const to = Math.max(window.to, Math.min(window.to + DAY, readableUntil(wallTimeAt(claimableMs()))))
  return { ...slice, requestWindow: widen({ window: { from: window.from - DAY, to } }) }
}

/**
 * Reads a slice with a widened request.
 * @returns undefined if it is refused, cut or not proven; the slice is then read as planned
 */
async function readIfProven(reading: SliceReading, loader: RowLoader): Promise<ReadResult | undefined> {
  try {
    const read = await extractSlice(reading, loader)
    return read.kind === 'cut' || !isConclusive(read.verdict) ? undefined : read
  } catch (error) {
    if (mayBeTooLong(error)) return undefined
    throw error
  }
}

function countsOf(extraction: Extraction | undefined, { inserted, updated, unchanged }: Counts): Counts {
  const { distinct = 0, rejected = [], degraded = 0 } = extraction?.summary ?? {}
  return {
    ...noCounts,
    extracted: Math.max(distinct + rejected.length, inserted + updated),
    inserted,
    updated,
    // A repeated walk finds the rows unchanged that an earlier walk has written.
    unchanged: Math.min(unchanged, Math.max(0, distinct - inserted - updated)),
    quarantined: rejected.length,
    degraded,
  }
}

/** No minute has this many pages: the service starts over after the end, or ignores the page parameter. */
const MAX_PAGES = 2000

/**
 * Reads the rows of a slice, or cuts it: if it is too large, which may show only while it is read, or partly served.
 * If rows without an id are short, the total may count all rows of the partition, whatever the range: then all of them
 * are requested.
 * @throws LivehouseError `paging.ignored`, also if the list of one minute has no end; `api.…` of a call
 */
export async function extractSlice(reading: SliceReading, loader: RowLoader): Promise<ReadResult> {
  let read = await readOrCut(reading, loader)
  const { window, search, stream } = reading.slice
  if (stream.identity && read.kind === 'read' && read.verdict.proof === 'short') {
    const { totals } = read.summary
    const sliceOfAll = totals && (await reading.widenToAll(totals.largest))
    const readOfAll = sliceOfAll && (await readOrCut(openReading(sliceOfAll, reading.deps, reading.meter), loader))
    if (readOfAll?.kind === 'read' && isConclusive(readOfAll.verdict)) read = readOfAll
  }
  if (read.kind === 'cut' || !isConclusive(read.verdict)) return read
  const isRound = mayBeLimit(read.summary.totals?.largest ?? 0)
  if (window === undefined) return isRound ? await judgeHidden(read, reading) : read
  if (search && read.found.count > 0) search.proven++
  const parts = await cutShortened(reading, read)
  if (parts === undefined) return read
  await loader.drain()
  return { kind: 'cut', parts }
}

/**
 * Judges a whole list whose number of rows may be the most that the service counts and serves. If it can be reversed,
 * its first page in that order shows rows that did not come; it is then short by at least these.
 */
async function judgeHidden(extraction: Extraction, { requests, readItem }: SliceReading): Promise<Extraction> {
  const { totals } = extraction.summary
  if (totals === undefined || requests.list.stream.wire.reversed === undefined) return extraction
  const page = await fetchUnlessRefused({ ...requests, list: { ...requests.list, isReversed: true } }, 1)
  // If the list has grown meanwhile, the page also shows new rows.
  if ('refusal' in page || page.total !== totals.largest) return extraction
  const hidden = rowsOf(page, readItem).filter((row) => !extraction.found.has(rowKey(requests.list.stream)(row))).length
  if (hidden === 0) return extraction
  const start = `the source says ${totals.largest}, and as many came, but in reverse order it starts with`
  const reason = `${start} ${hidden} other rows: it limits how many it serves, or some left meanwhile`
  const summary = { ...extraction.summary, totals: { ...totals, largest: totals.largest + hidden } }
  return { ...extraction, summary, verdict: { proof: 'short', reason } }
}

async function readOrCut(reading: SliceReading, loader: RowLoader): Promise<ReadResult> {
  const { slice, deps } = reading
  const { stream, window } = slice
  const planned = await cutSlice(reading).catch(async (error: unknown) => await cutToServed(reading, error))
  if (planned) return { kind: 'cut', parts: planned }
  if (stream.identity === undefined) return await extractKeyed(reading, loader)

  const mayBeCut = window !== undefined && window.to - window.from > MIN_WINDOW && !reading.isOneDay()
  const mostPages = mayBeCut ? mostPagesUncut(stream, deps.pagesPerSlice) : MAX_PAGES
  const read = await extractUnkeyed(reading, stream.identity, loader, mostPages)
  if (read.kind === 'unread') {
    const isTooLong = read.cause === 'too long'
    const halves = splitSlice(slice, read.minutes)
    const cut = isTooLong ? await cutSlice(reading, true) : undefined
    const parts = cut ?? (await announceParts(slice, halves, 0, reading.requests, true))
    if (parts) return { kind: 'cut', parts: searchWithin(slice, parts, isTooLong && read.isOneAnswer) }
    if (read.cause !== 'too long') throw read.cause.refusal
    const evidence = `page ${MAX_PAGES + 1} of one minute still holds rows`
    const call = describeList(reading.requests.list)
    const message = `${call}: the list has no end: ${evidence}. Ask the service's support.`
    throw new LivehouseError('paging.ignored', message, {})
  }
  const { summary, verdict } = read
  // Rows that are too young to be covered may move: they are read again next time anyway.
  if (verdict.proof !== 'moving' || slice.covers === undefined) return read
  const halves = read.keepsMoving && mayBeSearched(slice) ? splitSlice(slice, read.minutes) : undefined
  const parts = await announceParts(slice, halves, summary.totals?.largest ?? 0, reading.requests, true)
  if (parts) return { kind: 'cut', parts: searchWithin(slice, parts, false), hasMoved: true }
  const reason = `it did not come to rest however often it was read, so no row was written: ${verdict.reason}`
  return { ...read, verdict: { proof: 'short', reason, isAtRest: false } }
}
