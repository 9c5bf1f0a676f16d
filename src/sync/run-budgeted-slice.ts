import { isDeepStrictEqual } from 'node:util'
import { hasCode, LivehouseError } from '../core/errors.ts'
import { addCounts, type Counts, isGreen, noCounts, placeOf } from '../core/slice.ts'
import type { OpenSlice } from '../ledger/open-slices.ts'
import { closeOpenSlices, isRefusedForDays, readOpenSlice, saveOpenSlice } from '../ledger/open-slices.ts'
import { isAt } from '../ledger/ops.ts'
import { recordSlices, type SliceRecord } from '../ledger/slices/slices.ts'
import { commitUnderLease, createBatchLoader } from './batch-loader.ts'
import type { ReadPage } from './budgeted-progress.ts'
import { addPage, beginSlice, isLastPage, judgeEnd, readItems } from './budgeted-progress.ts'
import { judgeReading } from './judge-walk.ts'
import { pageIgnored } from './read-pages.ts'
import { checkItems, openSliceLog, recordPresentFields, shortfall, writeFailure } from './record-slice.ts'
import { failedBy } from './run-slice.ts'
import { partOf } from './slice-parts.ts'
import { createCallMeter, fetchByNumber, openReading } from './slice-reading.ts'
import type { CutSlice, EndedSlice, FullVerdict, RunDeps, Slice } from './slice-work.ts'
import { cutWindow, lookbackStart, partUntil } from './windows.ts'

/** A slice that continues on another day, because no more calls may be made now. Its progress is committed. */
export interface WaitingSlice {
  readonly kind: 'waiting'
  readonly counts: Partial<Counts>
  /** Whose calls are spent: `account`, or for example `channel=9`. */
  readonly scope: string
  /** ISO instant. */
  readonly resumesAt: string
}

/**
 * Extracts a slice of a stream that allows few calls a day (API 4.6), page by page, over as many runs and days as it
 * takes. Each page is committed together with the progress of the reading. A page with nothing new ends it.
 *
 * A run that continues it first reads the last page again. If that has changed, rows have moved between read and unread
 * pages, so the slice is cut in two and read anew: a list that keeps moving is read in parts that fit in a day. It is
 * also cut if a later page is refused for days, because that page may be too deep. If its first page is refused for
 * days, if the slice is too short to be cut, or if the service says that too many calls were made, it fails with the
 * service's own words, and is tried once on each later day.
 */
export async function runBudgetedSlice(slice: Slice, deps: RunDeps): Promise<EndedSlice | CutSlice | WaitingSlice> {
  const work = await openWork(slice, deps)
  const { place, loader, log } = work
  const end = (proof: EndedSlice['proof'], error: unknown): EndedSlice => {
    log.end(proof, work.counts(), error)
    return { ...failedBy(error), proof, counts: work.counts() }
  }
  try {
    if ((await continueReading(work)) === 'moved') {
      await commitUnderLease(slice, deps, async (trx) => await closeOpenSlices(trx, isAt(place)))
      log.wait('slice.moved', work.counts(), { pagesRead: work.state.pagesRead })
      return { kind: 'cut', parts: halvesOf(slice), counts: work.counts() }
    }
    const verdict = await judge(work)
    const record = recordOf(log.record(verdict, undefined, work.state.covers), work.upToNow(), deps)
    await loader.finish(async (trx) => {
      await recordSlices(trx, [record])
      await closeOpenSlices(trx, isAt(place))
    })
    return end(verdict.proof, isGreen(verdict.proof) ? undefined : shortfall(slice, verdict.reason))
  } catch (error) {
    await loader.drain()
    if (!hasCode(error, 'api.budgetSpent')) {
      // Behind the end of a list, or too deep in it, some services fail where others refuse the page.
      const isPage = hasCode(error, 'api.status') && error.details.status >= 500 && work.state.pagesRead > 0
      const refusal = isPage ? await saveRefusal(work, error) : undefined
      return end('failed', refusal ?? (await log.recordFailure(error)))
    }
    // Without a cause, the error comes from livehouse's own count of calls, and no call was made.
    const isRefused = error.cause !== undefined
    const failure = isRefused ? await saveRefusal(work, error) : undefined
    if (failure !== undefined) return end('failed', failure)
    const { scope, resumesAt } = error.details
    const { pagesRead } = work.state
    log.wait(isRefused ? 'slice.refused' : 'slice.waiting', work.counts(), { pagesRead, reason: error.message })
    return { kind: 'waiting', counts: work.counts(), scope, resumesAt }
  }
}

type Work = Awaited<ReturnType<typeof openWork>>

async function openWork(slice: Slice, deps: RunDeps) {
  const { db, clock, runId } = deps
  const place = { ...placeOf(slice), runId }
  const meter = createCallMeter()
  const loader = createBatchLoader(slice, deps)
  // The earlier of the two clocks: rows that came after it are not covered.
  const startedAt = new Date(Math.min(clock.now(), deps.claimableMs()))
  const open = await readOpenSlice(db, place)
  const isThis = open?.backfillId === slice.backfillId && isDeepStrictEqual(open?.window, slice.window)
  const saved = open && isThis ? open : beginSlice(slice, startedAt)
  const initial = saved.pagesRead > 0 ? saved : { ...beginSlice(slice, startedAt), refused: saved.refused }
  const reading = openReading(slice, deps, meter)
  const fixed = { reading, place, loader, log: openSliceLog(slice, deps, meter), startedAt, initial }
  const work = {
    ...fixed,
    /** The committed progress. */
    state: initial,
    read: noCounts,
    counts: (): Counts => ({ ...addCounts(loader.counts(), work.read), ...meter.counts() }),
    /** The progress including the calls of this run. */
    upToNow: (): OpenSlice => {
      const { calls, retries } = meter.counts()
      return { ...work.state, calls: initial.calls + calls, retries: initial.retries + retries }
    },
  }
  return work
}

/** Continues the reading. @returns `moved` if rows have moved between read and unread pages */
async function continueReading(work: Work): Promise<'end' | 'moved'> {
  const { reading, initial } = work
  const { slice, requests, readItem } = reading
  const readPage = async (number: number, pageSize = requests.pageSize): Promise<ReadPage> => {
    return readItems(slice.stream, await fetchByNumber({ ...requests, pageSize }, number), readItem)
  }
  const hasMoved = async (): Promise<boolean> => !isLastPage(work.state, await readPage(work.state.pagesRead))
  const readOn = async (): Promise<'more' | 'end' | 'moved'> => {
    const page = await readPage(work.state.pagesRead + 1)
    const { state } = work
    if (state.pagesRead === 0) work.state = { ...state, covers: reading.claimed() }
    if (page.items.length === 0) return 'end'
    const isLast = isLastPage(state, page)
    if (isLast || (page.keys.length > 0 && page.keys.every((key) => state.keys.has(key)))) {
      const meaning = await judgeEnd(state, readPage)
      if (meaning === 'end') return 'end'
      if (isLast && meaning === 'other') throw pageIgnored(requests, page, state.pagesRead + 1, state.pagesRead)
      return 'moved'
    }
    // A row that comes again is a real duplicate, or the list has moved since the previous page.
    if (page.keys.some((key) => state.keys.has(key)) && (await hasMoved())) return 'moved'
    await commit(page, work)
    return 'more'
  }
  let next: Awaited<ReturnType<typeof readOn>> = 'more'
  if (initial.pagesRead > 0) {
    const isRefused = initial.refused?.page === initial.pagesRead + 1
    if (await hasMoved()) next = 'moved'
    else if (isRefused && (await judgeEnd(initial, readPage)) === 'end') next = 'end'
  }
  while (next === 'more') next = await readOn()
  return next
}

/** Quarantines unreadable items, and commits the rows of a page together with the progress of the reading. */
async function commit(page: ReadPage, work: Work): Promise<void> {
  const { reading } = work
  const { slice, deps } = reading
  const { items, rejected, degraded } = page
  work.read = addCounts(work.read, { extracted: items.length, quarantined: rejected.length, degraded })
  await reading.requireFiltered(page.rows)
  const read = { ...page, received: items.length }
  await checkItems(reading, read, page.keys)
  await work.loader.add(page.rows)
  reading.reportPage(page.items.length, undefined)
  const earlier = await reading.earlier()
  work.state = { ...addPage(work.state, slice, page, deps.timeZone), readAt: new Date(deps.clock.now()) }
  await work.loader.finish(async (trx) => {
    await saveOpenSlice(trx, work.place, work.upToNow())
    await recordPresentFields(trx, slice, read, earlier)
  })
}

/** Saves the progress after the service refused a page or failed. @returns the error if the slice fails */
async function saveRefusal(work: Work, error: LivehouseError): Promise<unknown> {
  const { place, startedAt } = work
  const { slice, deps } = work.reading
  const { refused, pagesRead } = work.state
  const page = pagesRead + 1
  const now = deps.clock.now()
  work.state = { ...work.state, refused: refused?.page === page ? refused : { page, since: new Date(now) } }
  const isForDays = isRefusedForDays(work.state, now)
  const [half, other] = halvesOf(slice)
  // A 429 does not mean that the page is too deep: another client has made the calls.
  const isOfDepth = !hasCode(error.cause, 'api.rateLimited')
  const isTooDeep = isForDays && isOfDepth && pagesRead > 0 && other !== undefined
  const next = isTooDeep && half ? { ...beginSlice(half, startedAt), refused } : work.upToNow()
  const saved = await writeFailure(error, slice, deps, async (trx) => await saveOpenSlice(trx, place, next))
  if (saved !== error) return saved
  if (!isForDays || isTooDeep) return undefined
  return await work.log.recordFailure(refusedForDays(error.cause, work.state.refused?.since))
}

function refusedForDays(cause: unknown, since: Date | undefined): unknown {
  if (!(cause instanceof LivehouseError)) return cause
  const advice = hasCode(cause, 'api.rateLimited')
    ? 'another client of the account must be spending the calls of each day. It is tried again once a day'
    : "the day's calls are not the reason. It is tried again once a day; leave it out if it is refused for good"
  const message = `${cause.message}: refused since ${since?.toISOString()}, so ${advice}`
  return new LivehouseError(cause.code, message, cause.details)
}

/** Cuts a slice in two, newest first. A slice of one minute stays whole. */
function halvesOf(slice: Slice): readonly Slice[] {
  return slice.window === undefined ? [slice] : cutWindow(slice.window, 2).map((half) => partOf(slice, half))
}

async function judge({ reading, state: { foundRows, keys } }: Work): Promise<FullVerdict> {
  const verdict = { proof: 'unverifiable' } as const
  const summary = { totals: undefined, distinct: keys.size, rejected: [] }
  const found = { count: foundRows, has: (key: string) => keys.has(key) }
  return await judgeReading(reading, { verdict, found, summary })
}

/** Extends the record of this run to the whole slice, from its first day on. */
function recordOf(record: SliceRecord, slice: OpenSlice, deps: RunDeps): SliceRecord {
  const { covers, startedAt, calls, retries } = slice
  const readAt = deps.wallTimeAt(Math.min(startedAt.getTime(), deps.claimableMs()))
  return {
    ...record,
    settled: covers && partUntil(covers, lookbackStart(readAt, record.lookbackDays)),
    distinctRows: slice.keys.size,
    quarantinedRows: slice.quarantinedRows,
    calls,
    retries,
    startedAt,
  }
}
