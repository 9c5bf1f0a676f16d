import { hasCode } from '../core/errors.ts'
import type { Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { DAY, floorToMinute, MINUTE, type WallTime } from '../core/wall-clock.ts'
import { isDrop } from './judge-walk.ts'
import { countIn, fetchUnlessRefused, isRefusedPage, ofRange, type SliceReading, widen } from './slice-reading.ts'
import type { Requests, Slice } from './slice-work.ts'
import { cutTime, cutWindowAt, isIn, MARGIN, MIN_WINDOW, mayBeHalved } from './windows.ts'

/** The part of a slice over a part of its window. */
export function partOf(slice: Slice, window: Window): Slice {
  const { from = window.from, to = window.to } = slice.covers ?? {}
  const covered = { from: Math.max(window.from, from), to: Math.min(window.to, to) }
  const covers = slice.covers && covered.from < covered.to ? covered : undefined
  return { ...slice, window, requestWindow: undefined, announced: undefined, covers }
}

/** The parts of a slice over these windows; undefined if there are fewer than two. */
export function toSlices(slice: Slice, windows: readonly Window[]): readonly Slice[] | undefined {
  return windows.length < 2 ? undefined : windows.map((window) => partOf(slice, window))
}

/** In cuts; enough to find one row among those of a page, even if all parts are cut before one of them is proven. */
const MAX_SEARCH = 16
/** How many such rows may be found in a list in one run. */
const MAX_FOUND = 4

/**
 * Whether a slice that was not proven may be cut. A slice of several answers always may, because its parts move less.
 * In a slice of one answer, cutting isolates the rows that prevent its proof, and must end soon: if the service's total
 * is always wrong, or each answer repeats a row, no part is ever proven, and every row would cost some forty calls.
 * Each proven part allows more cuts, and twice as many if rows have no id, as those land only in proven parts.
 */
export function mayBeSearched({ window, search, stream }: Slice, isOneAnswer = true): boolean {
  if (search === undefined || !isOneAnswer) return mayBeHalved(window)
  const { cuts, proven } = search
  const most = stream.identity ? MAX_SEARCH + 2 * proven : MAX_SEARCH * MAX_FOUND + proven
  return mayBeHalved(window) && cuts < most
}

/** Makes the parts of an unproven slice share a search. @param isOneAnswer whether its rows came in one answer */
export function searchWithin(slice: Slice, parts: readonly Slice[], isOneAnswer: boolean): readonly Slice[] {
  const search = slice.search ?? (isOneAnswer ? { cuts: 0, proven: 0 } : undefined)
  if (search && (isOneAnswer || slice.stream.identity)) search.cuts++
  return parts.map((part) => ({ ...part, search }))
}

/** The time from which rows are too young to be covered; undefined if all or none are. Only young rows move. */
export function tooYoungFrom({ window, covers }: Slice): WallTime | undefined {
  return window !== undefined && covers !== undefined && covers.to < window.to ? covers.to : undefined
}

/**
 * Cuts a slice that could not be read as a whole, because a page was refused or the list kept moving: before the rows
 * that are too young to be covered, or otherwise in half.
 * @param minutes those of its rows @returns undefined for a slice of one minute
 */
export function splitSlice(slice: Slice, minutes: readonly WallTime[]): readonly Slice[] | undefined {
  const at = tooYoungFrom(slice)
  return slice.window && at ? toSlices(slice, cutWindowAt(slice.window, [at])) : halveSlice(slice, minutes)
}

/**
 * Cuts a slice at the midnight nearest to the median of these minutes, or to the middle of its window if none lies in
 * it; within a day at the median itself. A minute of all rows becomes a part that no other request overlaps.
 * @returns undefined for a slice of one minute
 */
export function halveSlice(slice: Slice, minutes: readonly WallTime[]): readonly Slice[] | undefined {
  const { window } = slice
  if (window === undefined) return undefined
  const times = minutes.filter((at) => isIn(window, at)).toSorted((a, b) => a - b)
  const middle = times[Math.floor(times.length / 2)] ?? floorToMinute((window.from + window.to) / 2)
  const isCrowded = times.length > 1 && times.every((time) => time === middle)
  const around = isCrowded ? cutWindowAt(window, [middle - MARGIN, middle + MARGIN]) : []
  return toSlices(slice, around.length > 1 ? around : cutWindowAt(window, [cutTime(window, middle)]))
}

/**
 * Adds to each part the service's total of it, as `announced`. Returns undefined if they add up to fewer rows than the
 * window has, unless `inAnyCase`: a service may show a row with two times only in a range that holds both, so a row
 * across a cut would be in no part. If the slice is itself a part, the total announced for it still holds. If the parts
 * have surprisingly few rows, the missing ones may belong to any part that is not too young to be covered.
 * @param windowTotal the largest total of the window
 */
export async function announceParts(
  { stream, announced = 0 }: Slice,
  parts: readonly Slice[] | undefined,
  windowTotal: number,
  requests: Requests,
  inAnyCase = false,
): Promise<readonly Slice[] | undefined> {
  const total = Math.max(windowTotal, announced)
  const { window } = requests.list
  if (parts === undefined || window === undefined || !stream.isCounted) return parts
  // The cuts lie at half a minute, between times in whole minutes. Ranges overlap by a second, so that a row at a cut
  // is in at least one of them, whichever of its ends a range includes.
  const inOrder = parts.toSorted((a, b) => (a.window?.to ?? 0) - (b.window?.to ?? 0))
  const cuts = inOrder.slice(0, -1).flatMap((part) => (part.window ? [part.window.to + MINUTE / 2] : []))
  const ends = [...cuts, window.to]
  const ranges = ends.map((to, index) => ({ from: index === 0 ? window.from : (ends[index - 1] ?? 0) - 1, to }))
  const counts = await Promise.all(ranges.map(async (range) => await countIn(range, requests)))
  const sum = counts.reduce((some, count) => some + count, 0)
  // Rows that have left the window meanwhile are in no part.
  if (sum < total && !inAnyCase && sum < (await countIn(window, requests))) return undefined
  const missing = isDrop(sum, total) ? total - sum : 0
  return parts.map((part) => {
    const count = counts[inOrder.indexOf(part)] ?? 0
    return { ...part, announced: part.covers === undefined ? count : count + missing }
  })
}

/** The length of a window whose request, with a minute more on both sides, is for this many days. */
export const lengthAsked = (days: number) => days * DAY - 2 * MINUTE

/** Cuts a window into parts of this length, newest first. Those of visits overlap, as one may lie across an end. */
export function cutToLength({ from, to }: Window, length: number, { timeColumns }: Stream): readonly Window[] {
  const step = timeColumns.length > 1 ? length - Math.min(DAY, floorToMinute(length / 2)) : length
  const count = 1 + Math.max(0, Math.ceil((to - from - length) / step))
  return Array.from({ length: count }, (_, n) => ({ from: Math.max(from, to - n * step - length), to: to - n * step }))
}

/** Whether a range may be too long for the service: it was refused, failed, or took longer than the time limit. */
export const mayBeTooLong = (error: unknown): boolean => isRefusedPage(error) || hasCode(error, 'api.timeout')

/**
 * Cuts a slice whose first page is not served, because the range may be too long. Requests the newest day, and then
 * twice as much each time, until the longest range that is served is known to an eighth. If only the end of the range,
 * in the future, is refused, the slice is read again up to now. @throws `error` itself, or that of a day
 */
export async function cutToServed(reading: SliceReading, error: unknown): Promise<readonly Slice[]> {
  const { slice, requests, mustEndNow } = reading
  const { window } = slice
  if (!mayBeTooLong(error) || window === undefined) throw error
  const newest = (length: number): Requests =>
    ofRange(requests, widen({ window: { from: window.to - length, to: window.to } }))
  let [served, refused] = [lengthAsked(1), window.to - window.from]
  const day = refused > served ? await fetchUnlessRefused(newest(served), 1, mayBeTooLong) : { refusal: error }
  if ('refusal' in day) {
    if (await mustEndNow(Math.max(window.from, window.to - DAY), 0)) return [slice]
    throw day.refusal
  }
  while (refused - served > served / 8) {
    const length = Math.min(2 * served, floorToMinute((served + refused) / 2))
    if ('refusal' in (await fetchUnlessRefused(newest(length), 1, mayBeTooLong))) refused = length
    else served = length
  }
  return cutToLength(window, served, slice.stream).map((part) => partOf(slice, part))
}

/**
 * Finds where to cut a window whose total may be the most that the service counts. Counts both halves, and goes on with
 * a half that has the same total, until two halves together have more, which shows the limit, or each has fewer.
 * @returns undefined if the total is true, or all rows lie within the shortest window
 */
export async function findBound(window: Window, total: number, requests: Requests): Promise<WallTime | undefined> {
  const { from, to } = window
  if (to - from <= MIN_WINDOW) return undefined
  const middle = cutTime({ from: floorToMinute(from), to }, floorToMinute((from + to) / 2))
  // The halves are a second apart, so that no row is in both, even if ranges include both ends.
  const older = { from, to: middle - 1 }
  const newer = { from: middle, to }
  const [olderRows, newerRows] = await Promise.all([countIn(older, requests), countIn(newer, requests)])
  const sum = olderRows + newerRows
  if (sum > total) {
    // A live list may have grown meanwhile. A service that counts whole days, or everything, counts any part alike.
    const isLive = sum <= (await countIn(window, requests))
    return isLive || total === (await countIn({ from, to: from + MINUTE }, requests)) ? undefined : middle
  }
  const fullHalf = newerRows === total ? newer : olderRows === total ? older : undefined
  return fullHalf && (await findBound(fullHalf, total, requests))
}
