import { describeList } from '../core/page.ts'
import { hasCode, LivehouseError } from '../core/errors.ts'
import type { Counts } from '../core/outcome.ts'
import { isGreen, partitionKey } from '../core/slice.ts'
import { formatWallDate } from '../core/wall-clock.ts'
import { executeTogether, recordSlice, type SliceRecord } from '../ledger/slices.ts'
import { closeOpenSlice, type OpenSlice, readOpenSlice, saveOpenSlice } from '../ledger/open-slices.ts'
import { createBatchLoader } from './batch-loader.ts'
import { acceptShortfall, compareWithEarlier, type HeldVerdict } from './compare-with-earlier.ts'
import { openReading } from './open-reading.ts'
import { fetchNumbered, pageIgnored } from './page-reading.ts'
import {
  addFailure,
  addPage,
  beginSlice,
  DAYS_UNTIL_FAILED,
  isLastPage,
  judgeRepeatedPage,
  type ReadPage,
  readPageRows,
} from './paged-progress.ts'
import { openFirst, partOf } from './plan-again.ts'
import { cutWindow, settledPart } from './plan-windows.ts'
import {
  keepRejected,
  mayNotRecord,
  openSliceLog,
  recordFailure,
  shortfall,
  writeAlone,
  writeFailure,
} from './record-slice.ts'
import { openFieldCheck, presentFieldsEntry, requireReadable } from './require-fields.ts'
import { requireFiltered } from './row-window.ts'
import type { CutSlice, EndedSlice } from './run-slice.ts'
import { createCallMeter, type RunDeps, type Slice } from './slice-work.ts'

/** The day's calls are spent, or may not be made now: what has been read is committed, and another day goes on. */
export interface WaitingSlice {
  readonly kind: 'waiting'
  readonly counts: Partial<Counts>
  /** Whose calls are spent: `account`, or `channel=9`. */
  readonly scope: string
  /** ISO instant. */
  readonly resumesAt: string
}

/**
 * Extracts a slice of which only some calls a day may be made (API 4.6): page by page, each committed together with how far the
 * reading has come, over as many runs and days as it takes. An empty page ends it, and nothing else.
 *
 * A run that goes on with it looks first at the page where the one before it stopped. Where that no longer holds what it held, rows
 * have moved between what was read and what was not: the slice is cut in two, and read anew, so that a list that keeps
 * moving is read in parts that fit in a day. A slice of the partition that was begun before is ended first.
 */
export async function runPagedSlice(slice: Slice, deps: RunDeps): Promise<EndedSlice | CutSlice | WaitingSlice> {
  const { db, clock, timeZone, runId } = deps
  const place = { stream: slice.stream.name, partition: partitionKey(slice.partition), runId }
  const open = await readOpenSlice(db, place.stream, place.partition)
  const isBegun = open !== undefined && open.pagesRead > 0
  // Another run has begun it since this one was planned.
  if (isBegun && !isThis(open, slice)) {
    return { kind: 'cut', parts: openFirst(open, { ...slice, slices: [slice] }), counts: { calls: 0, retries: 0 } }
  }

  const meter = createCallMeter()
  const loader = createBatchLoader(slice, deps)
  const log = openSliceLog(slice, deps, meter)
  const { failedDays = 0, failedOn } = open ?? {}
  // By the earlier clock, since it may end when that shows more.
  const startedAt = new Date(Math.min(clock.now(), deps.claimableMs()))
  const begun = isBegun ? open : { ...beginSlice(slice, startedAt), failedDays, failedOn }
  /** What has been committed. */
  let state: OpenSlice = begun
  let received = 0
  let quarantined = 0
  let degraded = 0

  const counts = (): Counts => {
    const loaded = loader.counts()
    const rejected = quarantined + loaded.quarantined
    return { ...loaded, extracted: received, quarantined: rejected, degraded, ...meter.counts() }
  }
  /** With the calls of this run. */
  const upToNow = (): OpenSlice => {
    const { calls, retries } = meter.counts()
    return { ...state, calls: begun.calls + calls, retries: begun.retries + retries, readAt: new Date(clock.now()) }
  }
  const end = (proof: EndedSlice['proof'], error: unknown): EndedSlice => {
    log.end(proof, counts(), error)
    return { kind: 'ended', proof, counts: counts(), error, found: undefined, hasNewHeaders: false }
  }
  try {
    const reading = openReading(slice, deps, meter)
    const { pages, asked, readItem } = reading
    const read = async (number: number, pageSize = pages.pageSize): Promise<ReadPage> => {
      const page = await fetchNumbered({ ...pages, pageSize }, number)
      return { ...page, ...readPageRows(slice.stream, page, readItem) }
    }
    /** Keeps what cannot be read, and commits the rows together with how far the reading has come. */
    const commit = async (page: ReadPage, next: OpenSlice): Promise<void> => {
      received += page.items.length
      quarantined += page.rejected.length
      degraded += page.degraded
      if (asked) requireFiltered(describeList(pages.list), slice.stream, page.rows, asked, timeZone)
      await keepRejected(slice, page, deps)
      requireReadable({ received: page.items.length, rejected: page.rejected })
      const soFar = { received: page.items.length, absentFields: page.absentFields }
      await openFieldCheck(slice, reading, deps).require(soFar)
      const fields = presentFieldsEntry(db, slice, soFar)
      if (fields) await executeTogether(db, [fields])
      await loader.add(page.rows)
      reading.reportPage(page.items.length, undefined)
      state = next
      await loader.finish(async (trx) => await saveOpenSlice(trx, place, upToNow()))
    }
    const hasMoved = async (): Promise<boolean> => {
      const page = await read(state.pagesRead)
      await commit(page, { ...state, failedDays: 0, failedOn: undefined })
      return !isLastPage(state, page)
    }
    const readOn = async (): Promise<'more' | 'end' | 'moved'> => {
      const page = await read(state.pagesRead + 1)
      if (state.pagesRead === 0) state = { ...state, covers: reading.covers() }
      if (page.items.length === 0) return 'end'
      if (state.pagesRead > 0 && isLastPage(state, page)) {
        const meaning = await judgeRepeatedPage(state, page, read)
        if (meaning === 'ignored') throw pageIgnored(pages, page, state.pagesRead + 1, state.pagesRead)
        return meaning
      }
      // A row that comes again is a real duplicate, or the list has moved since the page before.
      if (page.keys.some((key) => state.keys.has(key)) && (await hasMoved())) return 'moved'
      await commit(page, addPage(state, slice, page, timeZone))
      return 'more'
    }
    let next: Awaited<ReturnType<typeof readOn>> = isBegun && (await hasMoved()) ? 'moved' : 'more'
    while (next === 'more') next = await readOn()
    if (next === 'moved') {
      await writeAlone(slice, async (trx) => await closeOpenSlice(trx, place.stream, place.partition), deps)
      deps.log.warn('slice.moved', { ...place, pagesRead: state.pagesRead })
      return { kind: 'cut', parts: halvesOf(slice), counts: counts() }
    }
    const verdict = await acceptShortfall(slice, await judge(slice, state, deps), deps)
    const record = recordOf(log.record(verdict, undefined, state.covers), upToNow(), slice, deps)
    await loader.finish(async (trx) => {
      await recordSlice(trx, record)
      await closeOpenSlice(trx, place.stream, place.partition)
    })
    return end(verdict.proof, isGreen(verdict.proof) ? undefined : shortfall(slice, verdict.reason))
  } catch (error) {
    await loader.settle()
    const isSpent = hasCode(error, 'api.budgetSpent')
    // Without a cause nothing was asked: livehouse itself has counted the calls.
    const failure = isSpent ? error.cause : error
    const isRemembered = failure !== undefined && !mayNotRecord(failure) && !deps.signal.aborted
    if (isRemembered) {
      state = addFailure(state, formatWallDate(deps.wallTimeAt(clock.now())))
      const saved = await writeFailure(slice, failure, async (trx) => await saveOpenSlice(trx, place, upToNow()), deps)
      if (saved !== failure) return end('failed', saved)
    }
    if (isSpent && !(isRemembered && state.failedDays >= DAYS_UNTIL_FAILED)) {
      const { scope, resumesAt } = error.details
      log.wait(counts(), { pagesRead: state.pagesRead, reason: error.message }, isRemembered)
      return { kind: 'waiting', counts: counts(), scope, resumesAt }
    }
    const told = isSpent && failure instanceof LivehouseError ? refusedForDays(failure, state.failedDays) : error
    return end('failed', await recordFailure(slice, told, log, deps))
  }
}

function refusedForDays({ code, message, details }: LivehouseError, days: number): LivehouseError {
  const advice =
    'refused on so many days in a row, it is not that the calls of the day are spent. Each day asks once more, after all other channels'
  return new LivehouseError(code, `${message}: refused for ${days} days; ${advice}`, details)
}

/** Newest first. One of a minute is read anew as it is. */
function halvesOf(slice: Slice): readonly Slice[] {
  return slice.window === undefined ? [slice] : cutWindow(slice.window, 2).map((half) => partOf(slice, half))
}

function isThis({ window, backfillId }: OpenSlice, slice: Slice): boolean {
  return window.from === slice.window?.from && window.to === slice.window.to && backfillId === slice.backfillId
}

async function judge(slice: Slice, { foundRows, keys }: OpenSlice, deps: RunDeps): Promise<HeldVerdict> {
  const verdict = { proof: 'unverifiable', reason: undefined } as const
  const summary = { totals: undefined, distinct: keys.size, rejected: [] }
  return await compareWithEarlier(slice, { verdict, found: { count: foundRows }, summary }, deps, undefined)
}

/** Of the whole slice, from its first day on. */
function recordOf(record: SliceRecord, slice: OpenSlice, { stream }: Slice, deps: RunDeps): SliceRecord {
  const { covers, startedAt, calls, retries } = slice
  const readAt = deps.wallTimeAt(Math.min(startedAt.getTime(), deps.claimableMs()))
  return {
    ...record,
    settled: covers && settledPart(covers, readAt, record.lookbackDays ?? stream.lookbackDays),
    distinctRows: slice.keys.size,
    quarantinedRows: slice.quarantinedRows,
    calls,
    retries,
    startedAt,
  }
}
