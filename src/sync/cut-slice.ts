import type { Row } from '../core/column.ts'
import { hasCode, LivehouseError } from '../core/errors.ts'
import type { Page } from '../core/page.ts'
import { describeList, type Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { areSameItems } from '../core/text.ts'
import { DAY, floorToDay, floorToMinute, formatWallTime, MINUTE, type WallTime } from '../core/wall-clock.ts'
import { findLatestMinute } from '../store/load/table-part.ts'
import { effectiveSize } from './read-pages.ts'
import { announceParts, cutToLength, findBound, halveSlice, lengthAsked, toSlices } from './slice-parts.ts'
import { areTotalsOfRange, fetchUnlessRefused, MIN_ROWS, ofRange, type SliceReading, widen } from './slice-reading.ts'
import type { Extraction, RefusedPage, Requests, Slice } from './slice-work.ts'
import { mayBeLimit, rowsOf } from './walk.ts'
import { cutTime, cutWindow, cutWindowAt, isIn, MARGIN, MIN_WINDOW, minutesOf, secondOf } from './windows.ts'

/** Parts with a total may be longer: they cost no more calls, and with fewer cuts fewer minutes are read twice. */
const COUNTED_FACTOR = 4
/** A slice that exceeds the limit by less than this factor is not cut. */
const TOLERANCE = 1.2
/** In characters of rows in memory until their slice is proven. A signup with 200 questions has up to 50,000. */
const MAX_HELD_TEXT = 4_000_000

/**
 * The number of pages above which a slice is cut. It is smaller, even less than one, if long rows are held in memory.
 * @param rows the rows of its first page, which show how much text a page has
 */
export function mostPagesUncut(stream: Stream, pagesPerSlice: number, rows: readonly Row[] = []): number {
  const { isCounted, identity } = stream
  const most = pagesPerSlice * (isCounted ? COUNTED_FACTOR : 1)
  const text = identity === undefined ? 0 : rows.reduce((sum, row) => sum + Object.values(row).join('').length, 0)
  return TOLERANCE * (text === 0 ? most : Math.min(most, MAX_HELD_TEXT / text))
}

/**
 * Fetches page 1 of a window and cuts a large slice: with a total at the times of the middle page, and otherwise at
 * those of the page at which a part is long enough. This is exact if the list is in the order of time, and a sample if
 * not. Whatever the order and whatever moves, the parts together are the window, and a part that is still too large is
 * cut again. A slice is also cut if the service does not count all of its rows.
 *
 * @param isLong whether a walk has already shown that the slice is too large
 * @returns undefined if it is small enough, only a few minutes long, or its rows are too close together
 * @throws LivehouseError `paging.ignored` if most rows of a page lie outside of the requested range, or a row is not
 * found by its time
 */
export async function cutSlice(reading: SliceReading, isLong = false): Promise<readonly Slice[] | undefined> {
  const { slice, deps, requests, readItem, firstPage } = reading
  const { window, stream } = slice
  if (window === undefined || window.to - window.from <= MIN_WINDOW) return undefined
  const first = await firstPage()
  const mostPages = mostPagesUncut(stream, deps.pagesPerSlice, stream.identity && rowsOf(first, readItem))
  const count = stream.isCounted ? Math.ceil((first.total ?? 0) / effectiveSize(requests, first)) : undefined
  // A short first page is usually the whole list.
  const isShort = count === undefined ? first.items.length < requests.pageSize : count <= mostPages
  if (isShort && !isLong) {
    const { total = 0 } = first
    const bound = mayBeLimit(total) ? await findBound(requests.list.window ?? window, total, requests) : undefined
    return bound === undefined ? undefined : toSlices(slice, cutWindowAt(window, [bound]))
  }

  const isFirst = (page: Page) => areSameItems(stream, page.items, first.items)
  const sample =
    count === undefined
      ? await fetchFarPage(requests, mostPages, isFirst)
      : await fetchSample(requests, Math.ceil(count / 2))
  // Either nothing lies there, or the reading will show whether the page parameter is ignored.
  if (count === undefined ? sample === undefined : sample && isFirst(sample)) return undefined
  const rows = sample ? rowsOf(sample, readItem) : []
  if (count !== undefined && rows.length === 0 && !(await areTotalsOfRange(requests))) return undefined
  await reading.requireFiltered(rows)
  if (reading.isOneDay()) return undefined
  await requireFoundByTime(sample ?? first, reading)
  const halves = halveSlice({ ...slice, isFoundByTime: true }, minutesOf(rows, stream, deps.timeZone))
  return await announceParts(slice, halves, first.total ?? 0, requests)
}

/**
 * Fetches the page of a list without a total at which a part is long enough: the minutes around each cut are read with
 * both parts. Undefined if the list is not much longer. Behind the end, some services repeat the first or last page.
 */
async function fetchFarPage(requests: Requests, mostPages: number, isFirst: (page: Page) => boolean) {
  const far = await fetchSample(requests, Math.max(2, Math.floor(mostPages) + 1))
  if (far === undefined || far.items.length === 0 || isFirst(far)) return undefined
  const near = await fetchSample(requests, Math.max(1, Math.floor(mostPages / TOLERANCE)))
  return near && areSameItems(requests.list.stream, near.items, far.items) ? undefined : (near ?? far)
}

/**
 * Requests the minute of a known row before a list without ids is cut. If the service filters by another time than it
 * shows, or in another time zone, no row comes; after a cut, rows near each bound would then be in no part.
 * @throws LivehouseError `paging.ignored`
 */
async function requireFoundByTime(shown: Page, reading: SliceReading) {
  const { requests, readItem, deps } = reading
  const { stream, isFoundByTime } = reading.slice
  const rows = stream.identity && !isFoundByTime ? rowsOf(shown, readItem) : []
  const times = rows.flatMap((row) => secondOf(row[stream.timeColumns[0] ?? ''], deps.timeZone) ?? [])
  const time = times[Math.ceil(times.length / 2) - 1]
  if (time === undefined) return
  const from = floorToMinute(time)
  const minute = { from, to: from + MINUTE }
  const page = await fetchFirst(minute, reading)
  if ('refusal' in page || page.items.length >= Math.min(requests.pageSize, shown.items.length)) return
  if (hasRowsOf(minute, page, reading)) return
  const call = describeList(ofRange(requests, widen({ window: minute })).list)
  const evidence = `a row of ${formatWallTime(from)} does not come when that minute is requested`
  const effect = 'The list is too long to be read at once, and cannot be cut by time'
  const repair = "Check LIVEHOUSE_TIMEZONE; if it is right, ask the service's support."
  const message = `${call}: the service filters by another time than it shows: ${evidence}. ${effect}. ${repair}`
  throw new LivehouseError('paging.ignored', message, {})
}

/** Fetches a page only to look at its times; undefined if it is not served, as the reading will report the error. */
async function fetchSample(requests: Requests, number: number): Promise<Page | undefined> {
  const isIgnored = (error: unknown) => !requests.context.signal.aborted && !hasCode(error, 'api.unreachable')
  const page = await fetchUnlessRefused(requests, number, isIgnored)
  return 'refusal' in page ? undefined : page
}

/** Only this many of the newest days of a long range are requested again for rows behind its latest one. */
const NEWEST_DAYS = 28
/** A range is long if it exceeds the lookback of its stream by more than this, which the range of a night does not. */
export const NIGHT_DAYS = 2

/**
 * Cuts a range of which the service may have served only a part: a long range, or one whose number of rows may be the
 * most that the service serves. Each part whose rows may not have come is requested by itself. If a new row comes, the
 * range is cut, and each part is read and checked in the same way. A refusal shows nothing, nor do rows outside of the
 * requested range. If a range of any length is empty, the minute of a row in the warehouse is requested: some services
 * return nothing for a range that is too long.
 * @returns undefined if nothing more came
 */
export async function cutShortened(
  reading: SliceReading,
  { summary: { received }, minutes: all }: Extraction,
): Promise<readonly Slice[] | undefined> {
  const { slice } = reading
  const { window, stream, isShortened = false } = slice
  const { db, timeZone, longestServed } = reading.deps
  if (window === undefined) return undefined
  const length = window.to - window.from
  // With a total, a round number of rows is not suspicious.
  const isLimited = !stream.isCounted && mayBeLimit(received)
  const isEmpty = received === 0
  const isLong = isShortened || isLimited || length > (stream.lookbackDays + NIGHT_DAYS) * DAY
  if (!isLong && !isEmpty) return undefined
  if (isEmpty && (await reading.mustEndNow(window.from, 1))) return [slice]
  const minutes = all.filter((at) => isIn(window, at))
  const earliest = minutes.reduce((least, at) => Math.min(least, at), window.to)
  // Only rows of the warehouse show where to look beyond a gap that is longer than the ranges that the service serves.
  const known = await findLatestMinute(db, { ...slice, window: { from: window.from, to: earliest }, timeZone })
  if (isEmpty && known && length > MIN_WINDOW && hasRowsOf(known, await fetchFirst(known, reading), reading))
    return toSlices({ ...slice, isShortened: true }, cutWindow(window, 2))
  if (!isLong) return undefined
  const latest = minutes.reduce((most, at) => Math.max(most, at), window.from)
  const comesToItsEnd = !isShortened && latest >= window.to - DAY
  const longest = Math.max(longestServed.get(stream.name) ?? 0, comesToItsEnd ? length : 0)
  longestServed.set(stream.name, longest)
  const isCutOff = minutes.length > 0 && (isLimited || isShortened)
  // The newest days of this range have come, or in this run those of another one at least as long.
  const isServed = !isCutOff && !isShortened && length <= longest
  const unseenParts = [
    ...(known ? [partUpToKnown(window, known)] : []),
    ...(minutes.length > 0 ? [partBefore(window, earliest)] : []),
    ...(isServed ? [] : [partBehind(window, slice.covers?.to ?? window.to, latest, isCutOff)]),
  ]
  for (const part of unseenParts)
    if (await bringsRows(part, reading)) return toSlices({ ...slice, isShortened: true }, part.cut)
  // The warehouse has no row to look for, so shorter ranges are tried.
  return isEmpty && !isServed && !isShortened ? await cutToServedDays(window, reading) : undefined
}

/** A part of a window whose rows may not have come, what to request for it, and how to cut the window if any come. */
interface UnseenPart extends Readonly<Record<'unseen' | 'request', Window>> {
  readonly cut: readonly Window[]
}

/** The part up to the latest row that the warehouse holds before those that came. */
function partUpToKnown(window: Window, { to }: Window): UnseenPart {
  const part = { from: window.from, to }
  return { unseen: part, request: part, cut: cutWindowAt(window, [cutTime(window, to, Math.ceil)]) }
}

/** The part before the earliest row. The minute of a row may be incomplete, so it belongs to the part beside it. */
function partBefore(window: Window, earliest: WallTime): UnseenPart {
  const { from } = window
  const cut = cutWindowAt(window, [cutTime(window, earliest + MINUTE, Math.ceil)])
  return { unseen: { from, to: earliest }, request: { from, to: earliest - MARGIN }, cut }
}

/** The part behind the latest row; only its newest days if nothing shows that the answer was cut off there. */
function partBehind(window: Window, to: WallTime, latest: WallTime, isCutOff: boolean): UnseenPart {
  const unseen = { from: latest + MINUTE, to }
  const request = { from: latest + MARGIN, to }
  if (isCutOff) return { unseen, request, cut: cutWindowAt(window, [cutTime(window, latest, Math.floor)]) }
  const length = window.to - window.from
  const newest = Math.max(MINUTE, Math.min(NEWEST_DAYS * DAY, floorToMinute(length / 2)))
  const equalParts = cutWindow(window, Math.ceil(length / newest)).slice(1)
  const bounds = equalParts.map((part) => cutTime(window, part.to))
  return { unseen, request: { from: Math.max(request.from, window.to - newest), to }, cut: cutWindowAt(window, bounds) }
}

/** Whether a request for a part of a window brings rows of it. */
async function bringsRows({ unseen, request }: UnseenPart, reading: SliceReading): Promise<boolean> {
  if (request.to - request.from <= MIN_WINDOW) return false
  // A service that filters by days also returns the rest of the first and last day, which may fill the page.
  const wholeDays = { from: Math.ceil(request.from / DAY) * DAY, to: floorToDay(request.to) - MARGIN }
  for (const range of wholeDays.to - wholeDays.from > MIN_WINDOW ? [request, wholeDays] : [request]) {
    const page = await fetchFirst(range, reading)
    if (hasRowsOf(unseen, page, reading)) return true
    if ('refusal' in page || page.items.length < MIN_ROWS) return false
  }
  return false
}

/** Cuts an empty window into weeks or days, if the service returns rows for the newest one. */
async function cutToServedDays(window: Window, reading: SliceReading) {
  const { slice } = reading
  const { to } = slice.covers ?? window
  for (const days of [7, 1]) {
    const newestDays = { from: to - lengthAsked(days), to }
    const page = await fetchFirst(newestDays, reading)
    if ('refusal' in page || !hasRowsOf(newestDays, page, reading)) continue
    await requireFoundByTime(page, reading)
    return toSlices({ ...slice, isFoundByTime: true }, cutToLength(window, lengthAsked(days), slice.stream))
  }
  return undefined
}

/** Fetches page 1 of a range. */
async function fetchFirst(window: Window, { requests }: SliceReading): Promise<Page | RefusedPage> {
  return await fetchUnlessRefused(ofRange(requests, widen({ window })), 1)
}

/** Whether a page has rows of a range. */
function hasRowsOf(range: Window, page: Page | RefusedPage, { slice, readItem, deps }: SliceReading): boolean {
  if ('refusal' in page) return false
  return minutesOf(rowsOf(page, readItem), slice.stream, deps.timeZone).some((at) => isIn(range, at))
}
