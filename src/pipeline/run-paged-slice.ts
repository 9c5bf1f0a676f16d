import { hasCode } from '../core/errors.ts'
import type { Counts } from '../core/outcome.ts'
import type { Page } from '../core/page.ts'
import { isGreen, partitionKey } from '../core/slice.ts'
import { wallTimeAt } from '../core/wall-clock.ts'
import { closeOpenSlice, type OpenSlice, readOpenSlice, saveOpenSlice } from '../state/open-slices.ts'
import { recordSlice, type SliceRecord } from '../state/slices.ts'
import { acceptShortfall } from './accept-shortfall.ts'
import { createBatchLoader } from './batch-loader.ts'
import { endFirst } from './begun-first.ts'
import { createCallMeter } from './call-meter.ts'
import { type HeldVerdict, holdAgainstEarlier } from './hold-against-earlier.ts'
import { keepRejected } from './keep-rejected.ts'
import { openReading } from './open-reading.ts'
import { addPage, beginSlice, isPastEnd, lookAgain, mayHaveMoved } from './paged-progress.ts'
import { describeList, fetchNumbered, fetchPastEnd } from './page-reading.ts'
import { type PageRows, readPageRows } from './page-rows.ts'
import { settledPart } from './plan-windows.ts'
import { requirePaged } from './require-paged.ts'
import { requireReadable } from './require-readable.ts'
import { requireFiltered } from './row-window.ts'
import type { CutSlice, EndedSlice } from './run-slice.ts'
import { isDatabaseError, messageOf, shortfall } from './slice-errors.ts'
import { openSliceLog } from './slice-log.ts'
import type { RunDeps, Slice } from './slice-work.ts'

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
 * reading has come, over as many runs and days as it takes. A short page ends it; no call is spent on more proof than that. What
 * shows that the list moved meanwhile makes it `moving`: its rows have landed, and it is read anew.
 *
 * A slice of the partition that was begun before is ended first.
 */
export async function runPagedSlice(slice: Slice, deps: RunDeps): Promise<EndedSlice | CutSlice | WaitingSlice> {
  const { db, clock, timeZone, runId } = deps
  const place = { stream: slice.stream.name, partition: partitionKey(slice.partition), runId }
  const open = await readOpenSlice(db, place.stream, place.partition)
  // Another run has begun it since this one was planned.
  if (open !== undefined && !isThis(open, slice)) {
    return { kind: 'cut', parts: endFirst(open, { ...slice, slices: [slice] }), counts: { calls: 0, retries: 0 } }
  }

  const meter = createCallMeter()
  const loader = createBatchLoader(slice, deps)
  const log = openSliceLog(slice, deps, meter)
  const begun = open ?? beginSlice(slice, new Date(clock.now()))
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
    /** Keeps what cannot be read, and gives the rows to the next commit. */
    const take = async (page: Page, read: PageRows): Promise<void> => {
      received += page.items.length
      quarantined += read.rejected.length
      degraded += read.degraded
      if (asked) requireFiltered(describeList(pages.list), slice.stream, read.rows, asked, timeZone)
      await keepRejected(slice, read, deps)
      requireReadable({ received: page.items.length, rejected: read.rejected })
      await loader.add(read.rows)
      reading.reportPage(page.items.length, undefined)
    }
    if (open !== undefined && mayHaveMoved(open, clock.now(), wallTimeAt(clock.now(), timeZone))) {
      const page = (await fetchPastEnd(pages, state.pagesRead)) ?? noPage
      const read = readPageRows(slice.stream, page, readItem)
      await take(page, read)
      state = lookAgain(state, slice, read, timeZone)
      await loader.finish(async (trx) => await saveOpenSlice(trx, place, upToNow()))
    }
    for (let isLast = false; !isLast; ) {
      const number = state.pagesRead + 1
      const page = number === 1 ? await fetchNumbered(pages, 1) : await fetchPastEnd(pages, number)
      const read = readPageRows(slice.stream, page ?? noPage, readItem)
      if (number === 1) state = { ...state, covers: reading.covers() }
      isLast = isPastEnd(state, page, read)
      if (page !== undefined && isLast && number === 2 && page.items.length >= state.pageSize) {
        const keysOf = (half: Page) => readPageRows(slice.stream, half, readItem).keys
        await requirePaged(pages, page, { pageSize: state.pageSize, keys: state.lastPageKeys, keysOf })
      }
      if (page !== undefined && !isLast) {
        await take(page, read)
        const after = addPage(state, slice, page, read, timeZone)
        state = after
        isLast = after.isLast
      }
      if (!isLast) await loader.finish(async (trx) => await saveOpenSlice(trx, place, upToNow()))
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
    if (hasCode(error, 'api.budgetSpent')) {
      const { scope, resumesAt } = error.details
      log.wait(counts(), { pagesRead: state.pagesRead, reason: error.message })
      return { kind: 'waiting', counts: counts(), scope, resumesAt }
    }
    const verdict = { proof: 'failed', reason: messageOf(error), isDrop: false } as const
    if (!isDatabaseError(error)) await recordSlice(db, log.record(verdict, undefined, slice.covers))
    return end('failed', error)
  }
}

const noPage: Page = {
  items: [],
  total: undefined,
  echoedPage: undefined,
  echoedPageSize: undefined,
  title: undefined,
  serviceTimeMs: undefined,
}

function isThis({ window, backfillId }: OpenSlice, slice: Slice): boolean {
  return window.from === slice.window?.from && window.to === slice.window.to && backfillId === slice.backfillId
}

async function judge(slice: Slice, { moved, foundRows, keys }: OpenSlice, deps: RunDeps): Promise<HeldVerdict> {
  const verdict = { proof: moved === undefined ? ('unverifiable' as const) : ('moving' as const), reason: moved }
  const summary = { totals: undefined, distinct: keys.size, rejected: [] }
  return await holdAgainstEarlier(slice, { verdict, found: { count: foundRows }, summary }, deps, undefined)
}

/** Of the whole slice, from its first day on. */
function recordOf(record: SliceRecord, slice: OpenSlice, { stream }: Slice, { timeZone }: RunDeps): SliceRecord {
  const { covers, startedAt, calls, retries } = slice
  const readAt = wallTimeAt(startedAt.getTime(), timeZone)
  return {
    ...record,
    settled: covers && settledPart(covers, readAt, stream.lookbackDays),
    distinctRows: slice.keys.size,
    quarantinedRows: slice.quarantinedRows,
    calls,
    retries,
    startedAt,
  }
}
