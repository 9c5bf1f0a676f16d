import type { Row } from '../core/column.ts'
import type { Page } from '../core/page.ts'
import { placeOf } from '../core/slice.ts'
import type { ChannelFacts } from '../core/stream.ts'
import { readDuplicates } from '../ledger/quarantine/quarantine.ts'
import { rowKeyColumn } from '../store/load/table-part.ts'
import type { BatchLoader } from './batch-loader.ts'
import { type AllWalks, conclude, judgeTogether, type WalkEnd } from './judge-all-walks.ts'
import {
  accountedFor,
  type Extracted,
  exceedsTotal,
  isConclusive,
  MOST_READINGS,
  MOST_WALKS,
  freshestOf,
} from './judge-walk.ts'
import { isRefusal, type SliceReading, sizeOfReading } from './page-reading.ts'
import { readHead, readPages } from './read-pages.ts'
import { requireFields } from './record-slice.ts'
import { countParts, mayBeSearched, searchWithin, splitSlice, tooYoungFrom } from './slice-parts.ts'
import type { RunDeps, Slice } from './slice-work.ts'
import { completeFacts, rowKey, startWalk } from './walk.ts'
import { liesWithin, mayBeHalved } from './windows.ts'

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
  const { knownFields, hasDuplicates } = await reading.earlier()
  if (knownFields.length === 0) loader.expectNew()
  let channelFacts: ChannelFacts | undefined
  let previous: WalkEnd | undefined
  const all: AllWalks = {
    keys: undefined,
    distinct: 0,
    count: 0,
    isStill: true,
    fewest: hasDuplicates ? 0 : Infinity,
    most: 0,
  }
  let { pageSize } = reading.pages
  let served = 1
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
      await reading.requireFiltered(rows)
      await loader.add(rows, async () => await requireFields(slice, walk.summary(), reading, deps))
      count += countOfSlice(rows)
      const fresh = all.keys === undefined ? [] : rows.filter((row) => all.keys?.add(keyOf(row)))
      all.distinct += fresh.length
      all.count += countOfSlice(fresh)
      if (window !== undefined) timesOfWalk.push(...rows.map((row) => ({ [timeColumn]: row[timeColumn] ?? null })))
    }
    /** Both halves of the slice, if together they have as many rows. */
    const halveWhole = async (total: number, inAnyCase = false) =>
      reading.isOneDay()
        ? undefined
        : await countParts(slice, splitSlice(slice, timesOfWalk, deps), total, pages, inAnyCase)
    try {
      for await (const { page, lastPage } of readPages(pages, walk.countKnown)) {
        await add(page)
        largest = Math.max(largest, page.items.length)
        channelFacts = completeFacts(channelFacts, stream, page, readItem)
        reportPage(page.items.length, lastPage)
        // A short page may be all there is: the pages behind it show that.
        const isAlone = walk.summary().received === page.items.length && page.items.length < pageSize
        if (exceedsTotal(walk.summary()) && mayBeHalved(window) && !isAlone) break
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
    const isExceeded = exceedsTotal(walk.summary())
    if (isExceeded) beyondTotal = Math.max(beyondTotal, accountedFor(walk.summary()))
    const end: WalkEnd = { ...walk.summary(), keys: walk.keys, count, largest }
    const judged = judgeTogether(end, previous, all, { attempt, beyondTotal, window })
    const { verdict, isUntrue, missing } = judged
    if (refused && isUntrue && !isExceeded) throw refused.error

    // A live list moves where its rows are too young to count as covered: the others are read apart.
    const hasYoungRows = verdict.proof === 'moving' && tooYoungFrom(slice) !== undefined
    const isOneAnswer = largest === walk.summary().received && largest < pageSize
    const mayBeCut = () => mayBeSearched(slice, isOneAnswer)
    const isStuck = attempt === MOST_READINGS && verdict.isStill === true && mayBeCut()
    const whole =
      !isUntrue && (hasYoungRows || isStuck) ? await halveWhole(end.totals?.largest ?? 0, hasYoungRows) : undefined
    const halves = isUntrue && mayBeCut() ? splitSlice(slice, timesOfWalk, deps) : whole
    if (halves) {
      await loader.flush()
      return { kind: 'cut', parts: hasYoungRows ? halves : searchWithin(slice, halves, isOneAnswer) }
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
      previous = { ...walked, keys: walk.keys, count, largest }
      served = Math.max(served, largest)
      if (verdict.isStill) pageSize = sizeOfReading(served, attempt + 1)
      continue
    }

    const extraction = conclude(slice, { ...walked, keys: walk.keys, count, largest }, all, { ...judged, attempt })
    return { kind: 'read', extraction: { ...extraction, channelFacts }, rows: [...timesOfWalk, ...freshest] }
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
