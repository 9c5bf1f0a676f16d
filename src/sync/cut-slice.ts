import type { Row } from '../core/column.ts'
import { hasCode, LivehouseError } from '../core/errors.ts'
import type { Page } from '../core/page.ts'
import { describeList, type Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { sameItems } from '../core/text.ts'
import { DAY, floorToDay, floorToMinute, formatWallTime, MINUTE, type WallTime } from '../core/wall-clock.ts'
import { latestHeld } from '../store/load/table-part.ts'
import type { Extraction } from './judge-walk.ts'
import {
  askedOf,
  FEWEST_ROWS,
  fetchNumbered,
  fetchUnlessRefused,
  isOfRange,
  type PageReading,
  rowsOf,
  type SliceReading,
} from './page-reading.ts'
import { effectiveSize } from './read-pages.ts'
import { countParts, cutToLength, findBound, halveSlice, lengthAsked, toSlices } from './slice-parts.ts'
import type { RunDeps, Slice } from './slice-work.ts'
import { mayBeLimit, rowKey } from './walk.ts'
import { cutTime, cutWindow, cutWindowAt, GAP, minutesWithin, secondOf, SHORTEST_WINDOW } from './windows.ts'

/** With a total, parts may be longer: they cost no more calls, and fewer cuts leave fewer minutes to be read twice. */
const COUNTED_FACTOR = 4
/** A slice that is only a little too large is not cut. */
const TOLERANCE = 1.2
/** Characters of rows that are held until their slice is proven; a signup of 200 questions has up to 50,000. */
const MOST_HELD_TEXT = 4_000_000

/**
 * How many pages a slice may have before it is cut: fewer where rows are long and are held in memory, even less than
 * one.
 * @param rows those of its first page, for the length of a page
 */
export function longestSlice(
  { isCounted, identity }: Stream,
  pagesPerSlice: number,
  rows: readonly Row[] = [],
): number {
  const most = pagesPerSlice * (isCounted ? COUNTED_FACTOR : 1)
  const text = identity === undefined ? 0 : rows.reduce((sum, row) => sum + Object.values(row).join('').length, 0)
  return TOLERANCE * (text === 0 ? most : Math.min(most, MOST_HELD_TEXT / text))
}

/**
 * Looks at page 1 of a window and cuts a large slice: one with a total at the times of the page in the middle, and one
 * without where a part is long enough. In a list in order of time that is exact, in any other a sample. Whatever the
 * list's order, and whatever moves meanwhile, the parts together are the window; a part that is still too large is cut
 * again. A slice of which the service does not count all rows is cut too.
 *
 * @param isLong whether reading has shown that it is too large
 * @returns undefined for one that is small enough, no longer than a few minutes, or whose rows lie too close together
 * @throws LivehouseError `paging.ignored` when most rows of a page lie outside of what was asked, or none is found by
 * its time
 */
export async function cutSlice(
  slice: Slice,
  reading: SliceReading,
  { timeZone, pagesPerSlice }: Pick<RunDeps, 'timeZone' | 'pagesPerSlice'>,
  isLong = false,
): Promise<readonly Slice[] | undefined> {
  const { window, stream } = slice
  const { pages, readItem, firstPage } = reading
  if (window === undefined || window.to - window.from <= SHORTEST_WINDOW) return undefined
  const first = await firstPage()
  const mostPages = longestSlice(stream, pagesPerSlice, stream.identity && rowsOf(first, readItem))
  const count = stream.isCounted ? Math.ceil((first.total ?? 0) / effectiveSize(pages, first)) : undefined
  // Most lists that begin with a short page end there.
  const isShort = count === undefined ? first.items.length < pages.pageSize : count <= mostPages
  if (isShort && !isLong) {
    const { total = 0 } = first
    const bound = mayBeLimit(total) ? await findBound(pages.list.window ?? window, total, pages) : undefined
    return bound === undefined ? undefined : toSlices(slice, cutWindowAt(window, [bound]))
  }

  const isFirst = (page: Page) => sameItems(stream)(page.items, first.items)
  const look =
    count === undefined ? await lookBehind(pages, mostPages, isFirst) : await lookAt(pages, Math.ceil(count / 2))
  // Then nothing lies there, or reading shows whether the page parameter is ignored.
  if (count === undefined ? look === undefined : look && isFirst(look)) return undefined
  const rows = look ? rowsOf(look, readItem) : []
  if (count !== undefined && rows.length === 0 && !(await isOfRange(pages))) return undefined
  await reading.requireFiltered(rows)
  if (reading.isOneDay()) return undefined
  await requireFoundByTime(slice, look ?? first, reading, timeZone)
  return await countParts(slice, halveSlice({ ...slice, isFound: true }, rows, timeZone), first.total ?? 0, pages)
}

/**
 * The page of a list without a total at which a part is long enough, as the minutes around a cut are read with both
 * parts; undefined where the list is not much longer. Past its end some services give the first or last page again.
 */
async function lookBehind(pages: PageReading, mostPages: number, isFirst: (page: Page) => boolean) {
  const far = await lookAt(pages, Math.max(2, Math.floor(mostPages) + 1))
  if (far === undefined || far.items.length === 0 || isFirst(far)) return undefined
  const near = await lookAt(pages, Math.max(1, Math.floor(mostPages / TOLERANCE)))
  return near && sameItems(pages.list.stream)(near.items, far.items) ? undefined : (near ?? far)
}

/**
 * Before a list without ids is cut, asks for the minute of a row that was shown. If the service filters by another time
 * than it shows, or in another zone, no row comes; cut by such a filter, rows near each bound would be in no part.
 * @throws LivehouseError `paging.ignored`
 */
async function requireFoundByTime({ stream, isFound }: Slice, shown: Page, reading: SliceReading, timeZone: string) {
  const { pages, readItem } = reading
  const rows = stream.identity && !isFound ? rowsOf(shown, readItem) : []
  const times = rows.flatMap((row) => secondOf(row[stream.timeColumns[0] ?? ''], timeZone) ?? [])
  const time = times[Math.ceil(times.length / 2) - 1]
  if (time === undefined) return
  const from = floorToMinute(time)
  const minute = { from, to: from + MINUTE }
  const list = { ...pages.list, window: askedOf({ window: minute }) }
  const page = await fetchUnlessRefused({ ...pages, list }, 1)
  // More rows may follow a full page.
  if ('refusal' in page || page.items.length >= Math.min(pages.pageSize, shown.items.length)) return
  if (minutesWithin(minute, rowsOf(page, readItem), stream, timeZone).length > 0) return
  const call = describeList(list)
  const evidence = `none of ${formatWallTime(from)} comes where that is asked for, at which a row was shown before`
  const effect = 'So long a list cannot be cut by time'
  const repair = "Check LIVEHOUSE_TIMEZONE; if it is right, ask the service's support."
  const message = `${call}: the service filters by another time than it shows: ${evidence}. ${effect}. ${repair}`
  throw new LivehouseError('paging.ignored', message, {})
}

/** A page for its times alone; undefined where it is not served: reading its rows will report the error. */
async function lookAt(pages: PageReading, number: number): Promise<Page | undefined> {
  try {
    return await fetchNumbered(pages, number)
  } catch (error) {
    if (pages.context.signal.aborted || hasCode(error, 'api.unreachable')) throw error
    return undefined
  }
}

/** What lies behind the latest row of a long range is asked for of so many of its newest days alone. */
const NEWEST_DAYS = 28
/** A range is long that is longer than the lookback of its stream and this: what a night reads is not. */
export const NIGHT_DAYS = 2

/**
 * Cuts a range of which the service may have served only a part: a long range, or one with as many rows as may be the
 * most that the service shows. What lies before the earliest row is asked for by itself, and so is what lies behind the
 * latest one: of a long range only its newest days, unless the service has served those of an equally long range
 * before. Where a row comes that had not come, the range is cut, and each part is read and checked in the same way. A
 * refusal shows nothing, nor do rows outside of the range that was asked for. Where nothing came, of a range of any
 * length, a row that is held is asked for by its minute: some services give nothing of a range that is too long.
 * @param came the rows that came, of the window or not, and the number of items
 * @returns undefined where nothing more came
 */
export async function cutShortened(
  slice: Slice & { readonly window: Window },
  came: { readonly rows: readonly Row[]; readonly received: number },
  reading: SliceReading,
  { db, timeZone, longestServed }: Pick<RunDeps, 'db' | 'timeZone' | 'longestServed'>,
): Promise<readonly Slice[] | undefined> {
  const { window, stream, covers, isShortened = false } = slice
  const { pages, readItem } = reading
  const length = window.to - window.from
  // A total tells whether a round number is all there is.
  const isLimited = !stream.isCounted && mayBeLimit(came.received)
  const isNothing = came.received === 0
  const isLong = isShortened || isLimited || length > (stream.lookbackDays + NIGHT_DAYS) * DAY
  if (!isLong && !isNothing) return undefined
  if (isNothing && (await reading.mustEndNow(window.from, 1))) return [slice]
  const minutes = minutesWithin(window, came.rows, stream, timeZone)
  const earliest = minutes.reduce((least, at) => Math.min(least, at), window.to)
  // Beyond a gap longer than the service serves, only rows of the warehouse show where to ask.
  const held = await latestHeld(db, { ...slice, window: { from: window.from, to: earliest }, timeZone })
  const ask = async (range: Window) =>
    await fetchUnlessRefused({ ...pages, list: { ...pages.list, window: askedOf({ window: range }) } }, 1)
  const isShown = (page: Awaited<ReturnType<typeof ask>>, within: Window) =>
    !('refusal' in page) && minutesWithin(within, rowsOf(page, readItem), stream, timeZone).length > 0
  if (isNothing && held && length > SHORTEST_WINDOW && isShown(await ask(held), held))
    return toSlices({ ...slice, isShortened: true }, cutWindow(window, 2))
  if (!isLong) return undefined
  const latest = minutes.reduce((most, at) => Math.max(most, at), window.from)
  const isNear = minutes.length > 0 && (isLimited || isShortened)
  const served = longestServed.get(stream.name) ?? 0
  const longest = !isShortened && latest >= window.to - DAY ? Math.max(served, length) : served
  longestServed.set(stream.name, longest)
  const known = { from: window.from, to: held?.to ?? window.from }
  const before = { from: window.from, to: minutes.length > 0 ? earliest : window.from }
  const { to } = covers ?? window
  const newest = Math.max(MINUTE, Math.min(NEWEST_DAYS * DAY, floorToMinute(length / 2)))
  const isServed = !isNear && !isShortened && length <= longest
  const behind = { from: isServed ? to : isNear ? latest + GAP : Math.max(latest + GAP, window.to - newest), to }
  // The minute in which the answer ended may have come in part: it belongs to the part that did not come.
  const cutAt = (at: WallTime, round: (days: number) => number) => cutWindowAt(window, [cutTime(window, at, round)])
  const equalParts = cutWindow(window, Math.ceil(length / newest))
    .slice(1)
    .map((part) => cutTime(window, part.to))
  const sides = [
    { unseen: known, asked: known, parts: cutAt(known.to, Math.ceil) },
    { unseen: before, asked: { ...before, to: before.to - GAP }, parts: cutAt(earliest + MINUTE, Math.ceil) },
    {
      unseen: { from: latest + MINUTE, to },
      asked: behind,
      parts: isNear ? cutAt(latest, Math.floor) : cutWindowAt(window, equalParts),
    },
  ]
  for (const { unseen, asked, parts } of sides) {
    if (asked.to - asked.from <= SHORTEST_WINDOW) continue
    // A service that goes by days gives the rest of the day of an end as well: it may fill the page.
    const wholeDays = { from: Math.ceil(asked.from / DAY) * DAY, to: floorToDay(asked.to) - GAP }
    for (const range of wholeDays.to - wholeDays.from > SHORTEST_WINDOW ? [asked, wholeDays] : [asked]) {
      const page = await ask(range)
      if (isShown(page, unseen)) return toSlices({ ...slice, isShortened: true }, parts)
      if ('refusal' in page || page.items.length < FEWEST_ROWS) break
    }
  }
  // Nothing is held that could be asked for: fewer days may be few enough.
  for (const days of isNothing && !isServed && !isShortened ? [7, 1] : []) {
    const newestDays = { from: to - lengthAsked(days), to }
    const page = await ask(newestDays)
    if ('refusal' in page || !isShown(page, newestDays)) continue
    await requireFoundByTime(slice, page, reading, timeZone)
    return toSlices({ ...slice, isFound: true }, cutToLength(window, lengthAsked(days)))
  }
  return undefined
}

/**
 * How many rows a whole list has at least beside those that came, which may be the most that the service counts and
 * shows. Where the list has another order, its first page shows rows that lie behind that.
 */
export async function countHidden(
  { summary: { totals }, found }: Pick<Extraction, 'summary' | 'found'>,
  { pages, readItem }: SliceReading,
): Promise<number> {
  const { stream } = pages.list
  if (totals === undefined || stream.wire.reversed === undefined) return 0
  const page = await fetchUnlessRefused({ ...pages, list: { ...pages.list, isReversed: true } }, 1)
  // A list that has grown since shows new rows as well.
  if ('refusal' in page || page.total !== totals.largest) return 0
  const keyOf = rowKey(stream)
  return rowsOf(page, readItem).filter((row) => !found.has(keyOf(row))).length
}
