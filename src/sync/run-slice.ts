import { LivehouseError } from '../core/errors.ts'
import { type Counts, describeList, isGreen, noCounts, type Proof, placeOf } from '../core/slice.ts'
import { DAY } from '../core/wall-clock.ts'
import { readLastPageSizes } from '../ledger/slices/earlier-readings.ts'
import { readMissedRows } from '../store/load/table-part.ts'
import { type BatchLoader, createBatchLoader } from './batch-loader.ts'
import { cutShortened, cutSlice, mostPagesUncut } from './cut-slice.ts'
import { extractKeyed } from './extract-keyed.ts'
import { extractUnkeyed } from './extract-unkeyed.ts'
import { acceptShortfall, compareWithEarlier, isConclusive, judgeHidden, MAX_READINGS } from './judge-walk.ts'
import { completeHeaders, type Landing, landSlice, noLanding } from './land-slice.ts'
import { type CallMeter, createCallMeter, MIN_ROWS, openReading, type SliceReading, widen } from './page-reading.ts'
import {
  openSliceLog,
  quarantineRejected,
  readableOf,
  recordFailure,
  requireFields,
  requireReadable,
  shortfall,
} from './record-slice.ts'
import { announceParts, cutToServed, mayBeSearched, mayBeTooLong, searchWithin, splitSlice } from './slice-parts.ts'
import type { Extraction, FoundRows, ReadResult, RunDeps, Slice } from './slice-work.ts'
import { mayBeLimit } from './walk.ts'
import { isReadTwice, MIN_WINDOW, newestAt } from './windows.ts'

export interface EndedSlice {
  readonly kind: 'ended'
  readonly proof: Proof
  /** The proofs of the other slices, if the ledger records the reading as several. */
  readonly otherProofs?: readonly Proof[]
  readonly counts: Partial<Counts>
  /** Why the slice is not green; undefined if it is. */
  readonly error: unknown
  /** Undefined if the list was not read to its end. */
  readonly found: FoundRows | undefined
}

export function failedBy(error: unknown): EndedSlice {
  return { kind: 'ended', proof: 'failed', counts: noCounts, error, found: undefined }
}

/** A slice that was too large or not proven, and is read in parts. It covers nothing, but keyed rows may be written. */
export interface CutSlice {
  readonly kind: 'cut'
  readonly parts: readonly Slice[]
  readonly counts: Partial<Counts>
}

/**
 * Extracts one slice: reads its pages, loads the rows, compares their count with the source's total, and records the
 * slice in the ledger in the transaction of its last rows. A failed slice may leave rows, but no coverage.
 *
 * Errors are returned as part of the result, so that a failing slice does not stop the others.
 */
export async function runSlice(planned: Slice, deps: RunDeps): Promise<EndedSlice | CutSlice> {
  let slice = planned
  const meter = createCallMeter()
  let loader = createBatchLoader(slice, deps)
  const log = openSliceLog(slice, deps, meter)
  let extraction: Extraction | undefined

  const end = (proof: Proof, error: unknown, { removed, proofs }: Landing = noLanding): EndedSlice => {
    const counts = { ...countsOf(extraction, loader.counts()), removed, ...meter.counts() }
    log.end(proof, counts, error)
    return { kind: 'ended', proof, otherProofs: proofs.slice(0, -1), counts, error, found: extraction?.found }
  }
  try {
    const widened = await widenRequest(planned, deps)
    let reading = await openAtOtherSize(widened ?? planned, deps, meter)
    let read: ReadResult | undefined = widened && (await readIfProven(widened, reading, deps, loader))
    if (widened && read) slice = widened
    else if (widened) {
      // The loader of the wider reading may hold rows, so the planned one gets a loader of its own.
      loader = createBatchLoader(planned, deps)
      reading = openReading(planned, deps, meter, reading.pages.pageSize)
    }
    read ??= await extractSlice(slice, reading, deps, loader)
    if (read.kind === 'cut') {
      const { inserted, updated } = loader.counts()
      const parts = read.parts.map((part) => (inserted + updated > 0 ? { ...part, hasWritten: true } : part))
      return { kind: 'cut', parts, counts: { inserted, updated, ...meter.counts() } }
    }
    extraction = await completeHeaders(slice, read.extraction, reading.pages, deps)
    await quarantineRejected(slice, extraction.summary, deps)
    requireReadable(extraction.summary, deps)
    await requireFields(slice, readableOf(extraction.summary), reading, deps)
    const earlier = await reading.earlier()
    const compared = await compareWithEarlier(slice, extraction, deps, earlier.lastWalk)
    const verdict = await acceptShortfall(slice, compared, deps)
    if (verdict.proof === 'accepted') await loader.add(extraction.unproven ?? [])
    const record = { ...log.record(verdict, extraction, reading.covers()), pageSize: extraction.pageSize }
    const landing = await landSlice(slice, { extraction, verdict, record, earlier }, deps, loader)
    const proof = landing.proofs.at(-1) ?? verdict.proof
    return end(proof, isGreen(proof) ? undefined : shortfall(slice, verdict.reason), landing)
  } catch (error) {
    await loader.drain()
    return end('failed', await recordFailure(slice, error, log, deps, extraction))
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
  const to = Math.max(window.to, Math.min(window.to + DAY, newestAt(wallTimeAt(claimableMs()))))
  return { ...slice, requestWindow: widen({ window: { from: window.from - DAY, to } }) }
}

/**
 * Reads a slice with a widened request.
 * @returns undefined if it is refused, cut or not proven; the slice is then read as planned
 */
async function readIfProven(slice: Slice, reading: SliceReading, deps: RunDeps, loader: BatchLoader) {
  try {
    const read = await extractSlice(slice, reading, deps, loader)
    return read.kind === 'cut' || !isConclusive(read.extraction.verdict) ? undefined : read
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
 * Reads the rows of a slice, or cuts it if it is too large, which may show only while reading, or only partly served.
 * If rows without an id are short, the total may count all rows of the partition, whatever the range: then all of them
 * are requested.
 * @throws LivehouseError `paging.ignored`, also if the list of one minute has no end; `api.…` of a call
 */
export async function extractSlice(
  slice: Slice,
  reading: SliceReading,
  deps: RunDeps,
  loader: BatchLoader,
): Promise<ReadResult> {
  let read = await readOrCut(slice, reading, deps, loader)
  const { window, search, stream } = slice
  if (stream.identity && read.kind === 'read' && read.extraction.verdict.proof === 'short') {
    const { totals } = read.extraction.summary
    const sliceOfAll = totals && (await reading.widenToAll(totals.largest))
    const readOfAll = sliceOfAll && (await readOrCut(slice, openReading(sliceOfAll, deps, reading.meter), deps, loader))
    if (readOfAll?.kind === 'read' && isConclusive(readOfAll.extraction.verdict)) read = readOfAll
  }
  if (read.kind === 'cut' || !isConclusive(read.extraction.verdict)) return read
  const isRound = mayBeLimit(read.extraction.summary.totals?.largest ?? 0)
  if (window === undefined) return isRound ? { ...read, extraction: await judgeHidden(read.extraction, reading) } : read
  if (search && read.extraction.found.count > 0) search.proven++
  const parts = await cutShortened({ ...slice, window }, { ...read.extraction.summary, rows: read.rows }, reading, deps)
  if (parts === undefined) return read
  await loader.drain()
  return { kind: 'cut', parts }
}

async function readOrCut(slice: Slice, reading: SliceReading, deps: RunDeps, loader: BatchLoader): Promise<ReadResult> {
  const { stream, window } = slice
  const planned = await cutSlice(slice, reading, deps).catch(
    async (error: unknown) => await cutToServed(slice, reading, error),
  )
  if (planned) return { kind: 'cut', parts: planned }
  if (stream.identity === undefined) return await extractKeyed(slice, reading, deps, loader)

  const mayBeCut = window !== undefined && window.to - window.from > MIN_WINDOW && !reading.isOneDay()
  const mostPages = mayBeCut ? mostPagesUncut(stream, deps.pagesPerSlice) : MAX_PAGES
  const read = await extractUnkeyed(slice, stream.identity, reading, deps, loader, mostPages)
  if (read.kind === 'unread') {
    const isTooLong = read.cause === 'too long'
    const halves = splitSlice(slice, read.rows, deps.timeZone)
    const cut = isTooLong ? await cutSlice(slice, reading, deps, true) : undefined
    const parts = cut ?? (await announceParts(slice, halves, 0, reading.pages, true))
    if (parts) return { kind: 'cut', parts: searchWithin(slice, parts, isTooLong && read.isOneAnswer) }
    if (read.cause !== 'too long') throw read.cause.refusal
    const evidence = `page ${MAX_PAGES + 1} of one minute still holds rows`
    const message = `${describeList(reading.pages.list)}: the list has no end: ${evidence}. Ask the service's support.`
    throw new LivehouseError('paging.ignored', message, {})
  }
  const { summary, verdict } = read.extraction
  // Rows that are too young to be covered may move: they are read again next time anyway.
  if (verdict.proof !== 'moving' || slice.covers === undefined) return read
  const halves = read.keepsMoving && mayBeSearched(slice) ? splitSlice(slice, read.rows, deps.timeZone) : undefined
  const parts = await announceParts(slice, halves, summary.totals?.largest ?? 0, reading.pages, true)
  if (parts) return { kind: 'cut', parts: searchWithin(slice, parts, false), hasMoved: true }
  const reason = `it did not come to rest in ${MAX_READINGS} or more readings, so no row was written: ${verdict.reason}`
  return { ...read, extraction: { ...read.extraction, verdict: { proof: 'short', reason, isAtRest: false } } }
}
