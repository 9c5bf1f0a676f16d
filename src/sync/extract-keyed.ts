import type { Row } from '../core/column.ts'
import type { Page } from '../core/page.ts'
import type { BatchLoader } from './batch-loader.ts'
import {
  accountedFor,
  countOthers,
  duplicatesOf,
  exceedsTotal,
  freshestOf,
  isConclusive,
  judgeWalks,
  MAX_READINGS,
  MAX_WALKS,
  readRepeatedKeys,
} from './judge-walk.ts'
import { isRefusal, type SliceReading } from './page-reading.ts'
import { sizeOfReading } from './read-list.ts'
import { readHead, readPages } from './read-pages.ts'
import { readableOf, requireFields } from './record-slice.ts'
import { announceParts, mayBeSearched, searchWithin, splitSlice, tooYoungFrom } from './slice-parts.ts'
import type { Extraction, ReadResult, RunDeps, Slice, Verdict } from './slice-work.ts'
import { type KeySet, rowKey, startWalk, type WalkSummary } from './walk.ts'
import { liesWithin, mayBeHalved } from './windows.ts'

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
export async function extractKeyed(
  slice: Slice,
  reading: SliceReading,
  deps: RunDeps,
  loader: BatchLoader,
): Promise<ReadResult> {
  const { stream, window } = slice
  const { readItem, reportPage } = reading
  const isOfSlice = (row: Row) => window === undefined || liesWithin(row, stream.timeColumns, window, deps.timeZone)
  const keyOf = rowKey(stream)
  const timeColumn = stream.timeColumns[0] ?? ''
  const { knownFields, hasWaiting } = await reading.earlier()
  const repeatedKeys = new Set(hasWaiting ? await readRepeatedKeys(slice, deps) : [])
  if (knownFields.length === 0) loader.expectNew()
  let previous: WalkEnd | undefined
  const all: AllWalks = { distinct: 0, count: 0, isStill: true, fewest: Infinity, most: 0 }
  let { pageSize } = reading.pages
  let served = 1
  /** The most rows of any walk that brought more than its total. After it, smaller totals are not believed. */
  let beyondTotal = 0
  /** The refusal of a later page of such a walk. */
  let refusal: { readonly error: unknown } | undefined

  for (let attempt = 1; ; attempt++) {
    if (attempt > 1) pageSize = await reading.tryPageSize(pageSize, attempt)
    const pages = { ...reading.pages, pageSize }
    const walk = startWalk(stream, readItem, new Set(repeatedKeys))
    const timesOfWalk: Row[] = []
    let count = 0
    let largest = 1
    const check = async (keys: readonly string[]) => await requireFields(slice, walk.summary(), reading, deps, keys)
    const add = async (page: Page): Promise<void> => {
      const rows = walk.add(page)
      await reading.requireFiltered(rows)
      await loader.add(rows, check)
      count += rows.filter(isOfSlice).length
      const fresh = all.keys === undefined ? [] : rows.filter((row) => all.keys?.add(keyOf(row)))
      all.distinct += fresh.length
      all.count += fresh.filter(isOfSlice).length
      if (window !== undefined) timesOfWalk.push(...rows.map((row) => ({ [timeColumn]: row[timeColumn] ?? null })))
    }
    /** Cuts the slice in half; undefined if the halves together have fewer rows than `total`. */
    const cutInHalf = async (total: number, inAnyCase = false) =>
      reading.isOneDay()
        ? undefined
        : await announceParts(slice, splitSlice(slice, timesOfWalk, deps.timeZone), total, pages, inAnyCase)
    const endOfWalk = (): WalkEnd => ({ ...walk.summary(), keys: walk.keys, count, largest })
    try {
      for await (const { page, lastPage } of readPages(pages, walk.countKnown)) {
        await add(page)
        largest = Math.max(largest, page.items.length)
        reportPage(page.items.length, lastPage)
        // A short page may be the whole list, which the pages behind it show.
        const isAlone = walk.summary().received === page.items.length && page.items.length < pageSize
        if (exceedsTotal(walk.summary()) && mayBeHalved(window) && !isAlone) break
      }
    } catch (error) {
      // Some services serve a list only up to some depth, which may be why a page after page 1 is refused.
      const isDeep = isRefusal(error) && walk.summary().received > 0
      const halves = isDeep ? await cutInHalf(walk.summary().totals?.first ?? 0) : undefined
      // If the total is wrong, a full page may have been the last one. At another page size, the last one is short.
      const isAgain = isDeep && exceedsTotal(walk.summary()) && attempt < MAX_READINGS
      if (!halves && !isAgain) throw error
      await loader.flush(check)
      if (halves) return { kind: 'cut', parts: halves }
      refusal = { error }
      beyondTotal = Math.max(beyondTotal, accountedFor(walk.summary()))
      served = Math.max(served, largest)
      pageSize = sizeWithShortEnd(sizeOfReading(served, attempt + 1), walk.summary().received)
      continue
    }

    await requireFields(slice, readableOf(walk.summary()), reading, deps)
    const isExceeded = exceedsTotal(walk.summary())
    if (isExceeded) beyondTotal = Math.max(beyondTotal, accountedFor(walk.summary()))
    const end = endOfWalk()
    const judged = judgeTogether(end, previous, all, { attempt, beyondTotal, window })
    const { verdict, isUntrue, missing } = judged
    if (refusal && isUntrue && !isExceeded) throw refusal.error

    // Only the young rows of a live list move, so the others are read apart from them.
    const hasYoungRows = verdict.proof === 'moving' && tooYoungFrom(slice) !== undefined
    const isOneAnswer = largest === walk.summary().received && largest < pageSize
    const mayBeCut = () => mayBeSearched(slice, isOneAnswer)
    const isStuck = attempt === MAX_READINGS && verdict.isStill === true && mayBeCut()
    let halves: readonly Slice[] | undefined
    if (isUntrue) halves = mayBeCut() ? splitSlice(slice, timesOfWalk, deps.timeZone) : undefined
    else if (hasYoungRows || isStuck) halves = await cutInHalf(end.totals?.largest ?? 0, hasYoungRows)
    if (halves) {
      await loader.flush()
      return { kind: 'cut', parts: hasYoungRows ? halves : searchWithin(slice, halves, isOneAnswer) }
    }
    if (attempt >= MAX_READINGS && verdict.proof === 'moving') await readHead(pages, walk, add)
    const isMore = attempt < MAX_READINGS || (attempt < MAX_WALKS && verdict.isStill === true && missing() > 0)
    const freshest = freshestOf(stream, walk.summary().held)
    await loader.add(freshest)
    count += freshest.filter(isOfSlice).length
    const last = endOfWalk()
    if (!isConclusive(verdict) && isMore) {
      await loader.flush()
      for (const row of last.repeated) repeatedKeys.add(keyOf(row))
      previous = last
      served = Math.max(served, largest)
      if (verdict.isStill) pageSize = sizeOfReading(served, attempt + 1)
      continue
    }

    const extraction = conclude(slice, last, all, { ...judged, attempt })
    return { kind: 'read', extraction, rows: [...timesOfWalk, ...freshest] }
  }
}

/** Makes a page size smaller, but not than 2, until the last of `rows` rows does not fill its page. */
function sizeWithShortEnd(size: number, rows: number): number {
  let pageSize = size
  while (pageSize > 2 && rows % pageSize === 0) pageSize -= 1
  return pageSize
}

/** The results of all walks over a slice together. `keys` is missing until the first walk has ended. */
interface AllWalks {
  keys?: KeySet
  distinct: number
  /** Rows that lie in the slice. */
  count: number
  /** Whether the list was the same in all walks. */
  isStill: boolean
  /** The smallest and largest total of all walks. */
  fewest: number
  most: number
}

/** A walk that has ended. */
interface WalkEnd extends WalkSummary {
  readonly keys: KeySet
  /** Rows that lie in the slice. */
  readonly count: number
  /** The number of items on the largest page. */
  readonly largest: number
}

/** Judges a walk together with the earlier ones, and adds it to `all`. `missing` counts rows that none brought. */
function judgeTogether(
  end: WalkEnd,
  previous: WalkEnd | undefined,
  all: AllWalks,
  { attempt, beyondTotal, window }: Pick<Slice, 'window'> & Readonly<Record<'attempt' | 'beyondTotal', number>>,
) {
  const { totals, received, distinct, repeatsOnPage, rejected, held, keys, count, largest } = end
  const isUntrue = beyondTotal > (totals?.largest ?? 0)
  // If the total is known to be wrong, the number of items that came is used in its place.
  const announced = isUntrue ? received : (totals?.last ?? 0)
  all.fewest = Math.min(all.fewest, totals?.smallest ?? 0)
  all.most = Math.max(all.most, totals?.largest ?? 0)
  if (all.keys === undefined) Object.assign(all, { keys, distinct, count })
  const isSame = distinct === all.distinct && distinct === previous?.distinct
  const isSameElsewhere = isSame && largest !== previous.largest
  const alone = judgeWalks(end, previous, isSameElsewhere)
  const why = `the source says ${totals?.last}, but ${beyondTotal} rows came before, so its total is wrong`
  const ofWalk: Verdict = isUntrue && isConclusive(alone) ? { proof: 'moving', reason: why, isStill: true } : alone
  all.isStill &&= ofWalk.isStill === true && (previous === undefined || previous.totals?.first === totals?.first)
  const isMoreThanTotal = received > announced
  const missing = () => announced - all.distinct - (isMoreThanTotal ? 0 : repeatsOnPage) - rejected.length
  for (const key of held.keys()) if (all.keys?.add(key)) all.distinct++
  // If more rows came than announced, the total may count rows that the list holds twice only once. That is believed
  // only if pages of another size bring the same rows, or all rows came on one page. Otherwise rows with equal keys are
  // first left to `judgeWalks`, which finds real duplicates by comparing two walks.
  const isSure = isMoreThanTotal
    ? isSameElsewhere || largest === received
    : repeatsOnPage === 0 || attempt >= MAX_READINGS
  const isProvable = window !== undefined || isMoreThanTotal
  const isWhole = isProvable && all.isStill && !isUntrue && missing() === 0 && isSure
  const verdict: Verdict = isWhole ? { proof: 'verified', reason: undefined } : ofWalk
  return { verdict, ofWalk, isUntrue, announced, missing }
}

/** The extraction of a slice by its last walk, or by all its walks together. */
function conclude(
  { stream, window, covers }: Slice,
  end: WalkEnd,
  all: AllWalks,
  judged: ReturnType<typeof judgeTogether> & { readonly attempt: number },
): Extraction {
  const { verdict, ofWalk, isUntrue, announced, missing, attempt } = judged
  const rejectedAgain = isConclusive(ofWalk) && accountedFor(end) < announced ? end.rejectedAgain : []
  const duplicates = isConclusive(ofWalk) ? duplicatesOf(stream, end.held) : []
  const rejected = [...end.rejected, ...rejectedAgain, ...duplicates]
  // A slice that covers nothing is read again anyway, and need not be complete.
  const isClaimed = window === undefined || covers !== undefined
  const came = all.distinct + end.rejected.length + end.repeatsOnPage + countOthers(end)
  // As many rows as the total moved by may have come or left meanwhile.
  const isBelowTotals = came < all.fewest - (all.most - all.fewest)
  const hasFewer = isClaimed && !isUntrue && verdict.proof === 'moving' && !verdict.isStill && isBelowTotals
  const isJoined = ofWalk.isStill === true || hasFewer
  const distinct = isJoined ? all.distinct : end.distinct
  const { count, keys } = isJoined && all.keys ? { ...all, keys: all.keys } : end
  const extraction = { summary: { ...end, distinct, rejected }, title: undefined, found: { count, has: keys.has } }
  if (isClaimed && !isUntrue && verdict.isStill === true && missing() > 0) {
    const rows = `${distinct} distinct and ${rejected.length} quarantined rows`
    const reason = `the source says ${announced}, but ${rows} came in ${attempt} readings, some of them twice in each`
    return { ...extraction, verdict: { proof: 'short', reason } }
  }
  if (hasFewer) {
    const reason = `the source says ${all.fewest} or more, but ${came} rows came in ${attempt} readings`
    return { ...extraction, verdict: { proof: 'short', reason, isAtRest: false } }
  }
  // One minute cannot be cut further. A longer window with a wrong total may lack rows without a sign of it.
  if (isClaimed && isUntrue && mayBeHalved(window))
    return { ...extraction, verdict: { proof: 'short', reason: verdict.reason, isAtRest: false } }
  return { ...extraction, verdict }
}
