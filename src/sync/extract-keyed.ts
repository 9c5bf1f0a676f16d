import type { Row } from '../core/column.ts'
import type { ItemReader, Page } from '../core/page.ts'
import { placeOf } from '../core/slice.ts'
import type { ChannelFacts, Stream } from '../core/stream.ts'
import { readDuplicates } from '../ledger/quarantine.ts'
import { rowKeyColumn } from '../store/load/table-part.ts'
import type { BatchLoader } from './batch-loader.ts'
import {
  accountedFor,
  type Extracted,
  exceedsTotal,
  isConclusive,
  judgeWalks,
  duplicatesOf,
  MOST_READINGS,
  MOST_WALKS,
  type Verdict,
  freshestOf,
} from './judge-walk.ts'
import {
  fetchNumbered,
  fetchUnlessRefused,
  isRefusal,
  type PageReading,
  type SliceReading,
  sizeOfReading,
} from './page-reading.ts'
import { readPages } from './read-pages.ts'
import { requireFields } from './record-slice.ts'
import { countParts, splitSlice, tooYoungFrom } from './slice-parts.ts'
import type { RunDeps, Slice } from './slice-work.ts'
import { type KeySet, rowKey, startWalk, type Walk, type WalkSummary } from './walk.ts'
import { liesWithin, mayBeHalved, requireFiltered } from './windows.ts'

/**
 * Reads the pages of a slice whose rows have a key, walk by walk until one proves itself, each at a page size of its
 * own. Rows go to `loader` as they come: writing a keyed row twice, or from a walk that proves nothing, does no harm.
 * Rows whose key has come more than once before are held back to the end of a walk: only the freshest is written.
 *
 * A range is cut in half where a later page of it is refused, where more rows come than its total says, or where it
 * does not change and yet some rows come twice in each walk. One that moves is cut where rows become too young to count
 * as covered. A slice that cannot be cut is judged by all its walks together: they can prove a window, and of a whole
 * list that no row is missing.
 */
export async function extractKeyed(
  slice: Slice,
  reading: SliceReading,
  deps: RunDeps,
  loader: BatchLoader,
): Promise<Extracted> {
  const { stream, window } = slice
  const { readItem, reportPage } = reading
  const countOfSlice = (rows: readonly Row[]) =>
    window === undefined
      ? rows.length
      : rows.filter((row) => liesWithin(row, stream.timeColumns, window, deps.timeZone)).length
  const keyOf = rowKey(stream)
  const timeColumn = stream.timeColumns[0] ?? ''
  const repeatedKeys = await readRepeatedKeys(slice, reading, deps)
  if ((await reading.earlier()).knownFields.length === 0) loader.expectNew()
  let channelFacts: ChannelFacts | undefined
  let previous: WalkSummary | undefined
  /** The rows of all walks together, and whether the list was the same in all of them. */
  const all = { keys: undefined as KeySet | undefined, distinct: 0, count: 0, isStill: true }
  let { pageSize } = reading.pages
  let [served, largestBefore] = [1, 0]
  /** The most rows of a walk that brought more than its total said: from then on no smaller total is believed. */
  let beyondTotal = 0
  /** Why the next page of such a walk was refused. */
  let refused: { readonly error: unknown } | undefined

  for (let attempt = 1; ; attempt++) {
    if (attempt > 1) pageSize = await reading.tryPageSize(pageSize, attempt)
    const pages = { ...reading.pages, pageSize }
    const walk = startWalk(stream, readItem, new Set(repeatedKeys))
    const timesOfWalk: Row[] = []
    let count = 0
    let largest = 1
    const add = async (page: Page): Promise<void> => {
      const rows = walk.add(page)
      if (window !== undefined) requireFiltered(pages.list, rows, deps.timeZone)
      await loader.add(rows, async () => await requireFields(slice, walk.summary(), reading, deps))
      count += countOfSlice(rows)
      const fresh = all.keys === undefined ? [] : rows.filter((row) => all.keys?.add(keyOf(row)))
      all.distinct += fresh.length
      all.count += countOfSlice(fresh)
      if (window !== undefined) timesOfWalk.push(...rows.map((row) => ({ [timeColumn]: row[timeColumn] ?? null })))
    }
    /** Both halves of the slice, if together they have as many rows. */
    const halveWhole = async (total: number, inAnyCase = false) =>
      await countParts(splitSlice(slice, timesOfWalk, deps), total, pages, inAnyCase)
    try {
      for await (const { page, lastPage } of readPages(pages, walk.countKnown)) {
        await add(page)
        largest = Math.max(largest, page.items.length)
        channelFacts = completeFacts(channelFacts, stream, page, readItem)
        reportPage(page.items.length, lastPage)
        if (exceedsTotal(walk.summary()) && mayBeHalved(window)) break
      }
    } catch (error) {
      // Some services serve a list only to some depth: after page 1 that may be the reason.
      const isDeep = isRefusal(error) && walk.summary().received > 0
      const halves = isDeep ? await halveWhole(walk.summary().totals?.first ?? 0) : undefined
      // Where the total is wrong, a full page may have been the last one: at another page size the last one is short.
      const isAgain = isDeep && exceedsTotal(walk.summary()) && attempt < MOST_READINGS
      if (!halves && !isAgain) throw error
      await loader.flush()
      if (halves) return { kind: 'cut', parts: halves }
      refused = { error }
      beyondTotal = Math.max(beyondTotal, accountedFor(walk.summary()))
      served = Math.max(served, largest)
      pageSize = sizeOfReading(served, attempt + 1)
      while (pageSize > 2 && walk.summary().received % pageSize === 0) pageSize -= 1
      continue
    }

    await requireFields(slice, walk.summary(), reading, deps)
    const { totals, received, distinct, repeatsOnPage, rejected } = walk.summary()
    const isExceeded = exceedsTotal(walk.summary())
    if (isExceeded) beyondTotal = Math.max(beyondTotal, accountedFor(walk.summary()))
    const isUntrue = beyondTotal > (totals?.largest ?? 0)
    if (refused && isUntrue && !isExceeded) throw refused.error
    // A total known to be wrong counts as none: then the rows that came show how many there are.
    const announced = isUntrue ? received : (totals?.last ?? 0)
    if (all.keys === undefined) Object.assign(all, { keys: walk.keys, distinct, count })
    const isSame = distinct === all.distinct && distinct === previous?.distinct
    const isSameElsewhere = isSame && largest !== largestBefore
    const alone = judgeWalks(walk.summary(), previous, isSameElsewhere)
    const why = `the source says ${totals?.last}, but ${beyondTotal} rows came before: its total is not true`
    const ofWalk: Verdict = isUntrue && isConclusive(alone) ? { proof: 'moving', reason: why, isStill: true } : alone
    largestBefore = largest
    all.isStill &&= ofWalk.isStill === true && (previous === undefined || previous.totals?.first === totals?.first)
    // Where more came than was announced, the total counts rows that are there twice only once.
    const isMoreThanTotal = received > announced
    const missing = () => announced - all.distinct - (isMoreThanTotal ? 0 : repeatsOnPage) - rejected.length
    for (const key of walk.summary().held.keys()) if (all.keys?.add(key)) all.distinct++
    // Then it counts only once pages of another size bring the same rows, or if all came on one page. Otherwise rows
    // with equal keys are left to `judgeWalks` first, which finds real duplicates by two walks that bring them alike.
    const isSure = isMoreThanTotal
      ? isSameElsewhere || largest === received
      : repeatsOnPage === 0 || attempt >= MOST_READINGS
    const isProvable = window !== undefined || isMoreThanTotal
    const isWhole = isProvable && all.isStill && !isUntrue && missing() === 0 && isSure
    const verdict: Verdict = isWhole ? { proof: 'verified', reason: undefined } : ofWalk

    // A live list moves where its rows are too young to count as covered: the others are read apart.
    const hasYoungRows = verdict.proof === 'moving' && tooYoungFrom(slice) !== undefined
    const isStuck = attempt === MOST_READINGS && verdict.isStill === true
    const whole =
      !isUntrue && (hasYoungRows || isStuck) ? await halveWhole(totals?.largest ?? 0, hasYoungRows) : undefined
    const halves = isUntrue ? splitSlice(slice, timesOfWalk, deps) : whole
    if (halves) {
      await loader.flush()
      return { kind: 'cut', parts: halves }
    }
    if (attempt >= MOST_READINGS && verdict.proof === 'moving') await readHead(pages, walk, add)
    const isMore = attempt < MOST_READINGS || (attempt < MOST_WALKS && verdict.isStill === true && missing() > 0)
    const walked = walk.summary()
    const freshest = freshestOf(stream, walked.held)
    await loader.add(freshest)
    count += countOfSlice(freshest)
    if (!isConclusive(verdict) && isMore) {
      await loader.flush()
      for (const row of walked.repeated) repeatedKeys.add(keyOf(row))
      previous = walked
      served = Math.max(served, largest)
      if (verdict.isStill) pageSize = sizeOfReading(served, attempt + 1)
      continue
    }

    const isAgain = isConclusive(ofWalk) && walked.distinct + walked.rejected.length < announced
    const duplicates = isConclusive(ofWalk) ? duplicatesOf(stream, walked.held) : []
    const isJoined = ofWalk.isStill === true
    const summary = {
      ...walked,
      distinct: isJoined ? all.distinct : walked.distinct,
      rejected: [...walked.rejected, ...(isAgain ? walked.rejectedAgain : []), ...duplicates],
    }
    const found = isJoined && all.keys ? { count: all.count, has: all.keys.has } : { count, has: walk.keys.has }
    // Rows too young to count as covered are read again in any case.
    const isClaimed = window === undefined || slice.covers !== undefined
    const isLacking = isClaimed && !isUntrue && verdict.isStill === true && missing() > 0
    const rows = `${summary.distinct} distinct and ${summary.rejected.length} quarantined rows`
    const reason = `the source says ${announced}, but ${rows} came in ${attempt} readings, some of them twice in each`
    const judged: Verdict = isLacking ? { proof: 'short', reason } : verdict
    const extraction = { summary, verdict: judged, channelFacts, title: undefined, found }
    return { kind: 'read', extraction, rows: [...timesOfWalk, ...freshest] }
  }
}

/** Keys that had real duplicates in an earlier reading of the list. */
async function readRepeatedKeys(slice: Slice, { earlier }: SliceReading, { db }: RunDeps): Promise<Set<string>> {
  const { stream } = slice
  if (!(await earlier()).hasDuplicates) return new Set()
  const source = stream.columns[rowKeyColumn(stream)]?.source
  const values = await readDuplicates(db, placeOf(slice))
  return new Set(values.map((value) => String(source?.kind === 'field' ? source.parse(value) : value)))
}

/** Reads the first pages of a moving list until one brings no new key: a row that jumped to the front lands too. */
async function readHead(pages: PageReading, walk: Walk, add: (page: Page) => Promise<void>): Promise<void> {
  let known: number
  let number = 1
  do {
    known = walk.summary().distinct
    const page = number === 1 ? await fetchNumbered(pages, number) : await fetchUnlessRefused(pages, number)
    if ('refusal' in page) {
      // Within the list it must be served: what has moved may be on it.
      if (number * pages.pageSize <= (walk.summary().totals?.smallest ?? 0)) throw page.refusal
      return
    }
    await add(page)
    number++
  } while (walk.summary().distinct > known)
}

/** Adds what the readable items of a page say about their channel. */
function completeFacts(
  known: ChannelFacts | undefined,
  { channelFacts }: Stream,
  page: Page,
  readItem: ItemReader,
): ChannelFacts | undefined {
  if (channelFacts === undefined) return undefined
  let facts = known
  for (const item of page.items) {
    if (facts && facts.name !== null && facts.adminId !== null) return facts
    const more = readItem(item, page).kind === 'row' ? channelFacts(item) : undefined
    if (more) facts = { name: facts?.name ?? more.name, adminId: facts?.adminId ?? more.adminId }
  }
  return facts
}
