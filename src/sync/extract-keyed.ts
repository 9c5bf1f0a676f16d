import type { Row } from '../core/column.ts'
import type { Page } from '../core/page.ts'
import { placeOf } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { WallTime } from '../core/wall-clock.ts'
import { readDuplicates } from '../ledger/quarantine/quarantine.ts'
import { rowKeyColumn } from '../store/load/table-part.ts'
import type { RowLoader } from './batch-loader.ts'
import type { AllWalks, Judgement, KeyedWalkSummary } from './judge-walk.ts'
import { accountedFor, exceedsTotal, isConclusive, judgeAtEnd, judgeTogether, MAX_WALKS } from './judge-walk.ts'
import { sizeOfWalk } from './read-list.ts'
import { readHead, readPages } from './read-pages.ts'
import { readableOf, requireFields } from './record-slice.ts'
import { announceParts, mayBeSearched, searchWithin, splitSlice, tooYoungFrom } from './slice-parts.ts'
import { isRefusal, type SliceReading } from './slice-reading.ts'
import type { Extraction, ReadResult, RefusedPage, RunDeps, Slice, Verdict } from './slice-work.ts'
import { duplicatesOf, freshestOf, rowKey, startWalk } from './walk.ts'
import { liesWithin, mayBeHalved, minutesOf } from './windows.ts'

/**
 * Reads a slice whose rows have a key, walk by walk, each at another page size, until a walk is proven. Rows go to
 * `loader` as they come: it does no harm to write a keyed row twice, or from an unproven walk. Rows whose key came more
 * than once in an earlier walk are held back to the end of a walk, and only the freshest is written.
 *
 * A window is cut in half if a later page is refused, if more rows come than its total, or if the list does not change
 * and yet each walk brings some rows twice. A window that moves is cut before the rows that are too young to be
 * covered. A slice that cannot be cut is judged by all its walks together: they can prove a window, or show that no row
 * of a whole list is missing.
 */
export async function extractKeyed(reading: SliceReading, loader: RowLoader): Promise<ReadResult> {
  const { slice, deps } = reading
  const { knownFields, hasWaiting } = await reading.earlier()
  if (knownFields.length === 0) loader.expectNew()
  const repeatedKeys = new Set(hasWaiting ? await readRepeatedKeys(slice, deps) : [])
  const totals = { smallestTotal: Infinity, largestTotal: 0, beyondTotal: 0 }
  const all: AllWalks = { distinct: 0, count: 0, isStill: true, largestPage: 1, ...totals }
  let { pageSize } = reading.requests
  /** Why a walk that brought more rows than its total ended early. */
  let refused: RefusedPage | undefined

  for (let attempt = 1; ; attempt++) {
    if (attempt > 1) pageSize = await reading.tryPageSize(pageSize, attempt)
    const atSize = { ...reading, requests: { ...reading.requests, pageSize } }
    const walk = startKeyedWalk(atSize, loader, all, repeatedKeys)
    const refusedNow = await walk.readPages()
    if (refusedNow) {
      const halves = await walk.cutInHalf(walk.summary().totals?.first ?? 0)
      // If the total is wrong, a full page may have been the last one. At another page size, the last one is short.
      const isAgain = exceedsTotal(walk.summary()) && attempt < MAX_WALKS
      if (!halves && !isAgain) throw refusedNow.refusal
      await loader.flush(walk.checkFields)
      if (halves) return { kind: 'cut', parts: halves }
      refused = refusedNow
      pageSize = sizeWithShortEnd(sizeOfWalk(all.largestPage, attempt + 1), walk.summary().received)
      continue
    }
    await requireFields(reading, readableOf(walk.summary()))
    const judged = judgeTogether(walk.summary(), all, attempt, slice.window !== undefined)
    const { verdict } = judged
    if (refused && judged.isTotalWrong && !exceedsTotal(walk.summary())) throw refused.refusal
    const parts = isConclusive(verdict) ? undefined : await cutUnproven(slice, walk, judged)
    if (parts) {
      await loader.flush()
      return { kind: 'cut', parts }
    }
    if (attempt >= MAX_WALKS && verdict.proof === 'moving') await walk.readHead()
    await walk.addFreshest()
    const end = walk.summary()
    const atEnd = judgeAtEnd(slice, judged, end)
    if (atEnd) return conclude(slice.stream, atEnd, judged, end)
    await loader.flush()
    all.previous = end
    for (const row of end.repeated) repeatedKeys.add(rowKey(slice.stream)(row))
    if (verdict.isStill) pageSize = sizeOfWalk(all.largestPage, attempt + 1)
  }
}

type KeyedWalk = ReturnType<typeof startKeyedWalk>

/** Starts a walk whose rows go to the loader as they come, and are counted in the walk and in `all`. */
function startKeyedWalk(reading: SliceReading, loader: RowLoader, all: AllWalks, repeatedKeys: ReadonlySet<string>) {
  const { slice, deps, requests } = reading
  const { stream, window } = slice
  const isOfSlice = (row: Row) => window === undefined || liesWithin(row, stream.timeColumns, window, deps.timeZone)
  const keyOf = rowKey(stream)
  const walk = startWalk(stream, reading.readItem, new Set(repeatedKeys))
  const minutes: WallTime[] = []
  let count = 0
  let largestPage = 1

  const note = (rows: readonly Row[]): void => {
    count += rows.filter(isOfSlice).length
    if (window !== undefined) minutes.push(...minutesOf(rows, stream, deps.timeZone))
  }
  const checkFields = async (keys: readonly string[]) => await requireFields(reading, walk.summary(), keys)
  const add = async (page: Page): Promise<void> => {
    const rows = walk.add(page)
    await reading.requireFiltered(rows)
    await loader.add(rows, checkFields)
    note(rows)
    const rowsNewToAll = all.keys === undefined ? [] : rows.filter((row) => all.keys?.add(keyOf(row)))
    all.distinct += rowsNewToAll.length
    all.count += rowsNewToAll.filter(isOfSlice).length
  }
  const readToEnd = async (): Promise<undefined> => {
    for await (const { page, lastPage } of readPages(requests, walk.countKnown)) {
      await add(page)
      largestPage = Math.max(largestPage, page.items.length)
      reading.reportPage(page.items.length, lastPage)
      // A short page may be the whole list, which the pages behind it show.
      const isAlone = walk.summary().received === page.items.length && page.items.length < requests.pageSize
      if (exceedsTotal(walk.summary()) && mayBeHalved(window) && !isAlone) return
    }
  }
  return {
    checkFields,
    /** Reads its pages, up to the one with more rows than the total. @returns the refusal of a page after page 1 */
    readPages: async (): Promise<RefusedPage | undefined> => {
      const refused = await readToEnd().catch((error: unknown) => {
        // Some services serve a list only up to some depth.
        if (isRefusal(error) && walk.summary().received > 0) return { refusal: error }
        throw error
      })
      const brought = exceedsTotal(walk.summary()) ? accountedFor(walk.summary()) : 0
      all.beyondTotal = Math.max(all.beyondTotal, brought)
      all.largestPage = Math.max(all.largestPage, largestPage)
      return refused
    },
    readHead: async (): Promise<void> => await readHead(requests, walk, add),
    /** Adds the freshest row of each key that came more than once in an earlier walk. */
    addFreshest: async (): Promise<void> => {
      const freshest = freshestOf(stream, walk.summary().heldBack)
      await loader.add(freshest)
      note(freshest)
    },
    /** Cuts the slice in half; undefined if the halves together have fewer rows than `total`. */
    cutInHalf: async (total: number, inAnyCase = false) =>
      reading.isOneDay()
        ? undefined
        : await announceParts(slice, splitSlice(slice, minutes), total, requests, inAnyCase),
    /** Whether all rows came in one answer. */
    isOneAnswer: (): boolean => largestPage === walk.summary().received && largestPage < requests.pageSize,
    summary: (): KeyedWalkSummary => ({ ...walk.summary(), keys: walk.keys, count, largestPage, minutes }),
  }
}

/** Cuts a slice after a walk that was not proven, if its parts may be. @returns undefined to read it as a whole */
async function cutUnproven(slice: Slice, walk: KeyedWalk, { verdict, isTotalWrong, attempt }: Judgement) {
  const isOneAnswer = walk.isOneAnswer()
  const mayBeCut = mayBeSearched(slice, isOneAnswer)
  // Only the young rows of a live list move, so the others are read apart from them.
  const hasYoungRows = verdict.proof === 'moving' && tooYoungFrom(slice) !== undefined
  const isStuck = attempt === MAX_WALKS && verdict.isStill === true && mayBeCut
  let halves: readonly Slice[] | undefined
  if (isTotalWrong) halves = mayBeCut ? splitSlice(slice, walk.summary().minutes) : undefined
  else if (hasYoungRows || isStuck) halves = await walk.cutInHalf(walk.summary().totals?.largest ?? 0, hasYoungRows)
  return halves && !hasYoungRows ? searchWithin(slice, halves, isOneAnswer) : halves
}

/** Makes a page size smaller, but not than 2, until the last of `rows` rows does not fill its page. */
function sizeWithShortEnd(size: number, rows: number): number {
  let pageSize = size
  while (pageSize > 2 && rows % pageSize === 0) pageSize -= 1
  return pageSize
}

/** The extraction of a slice by its last walk, or by all its walks together. */
function conclude(stream: Stream, verdict: Verdict, judged: Judgement, end: KeyedWalkSummary): Extraction {
  const { ofWalk, isTotalWrong, announced, all } = judged
  const rejectedAgain = isConclusive(ofWalk) && accountedFor(end) < announced ? end.rejectedAgain : []
  const duplicates = isConclusive(verdict) ? duplicatesOf(stream, end.heldBack) : []
  const rejected = [...end.rejected, ...rejectedAgain, ...duplicates]
  const isJoined = ofWalk.isStill === true || (verdict.isAtRest === false && !isTotalWrong)
  const distinct = isJoined ? all.distinct : end.distinct
  const { count, keys } = isJoined && all.keys ? { ...all, keys: all.keys } : end
  const summary = { ...end, distinct, rejected }
  return { kind: 'read', summary, verdict, minutes: end.minutes, found: { count, has: keys.has } }
}

/** Reads the keys that had real duplicates in an earlier reading of the list. */
async function readRepeatedKeys(slice: Slice, { db }: RunDeps): Promise<readonly string[]> {
  const source = slice.stream.columns[rowKeyColumn(slice.stream)]?.source
  const values = await readDuplicates(db, placeOf(slice))
  return values.map((value) => String(source?.kind === 'field' ? source.parse(value) : value))
}
