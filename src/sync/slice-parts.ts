import type { Row } from '../core/column.ts'
import type { Window } from '../core/slice.ts'
import { DAY, floorToMinute, MINUTE, type WallTime } from '../core/wall-clock.ts'
import { isDrop } from './judge-walk.ts'
import { askedOf, countIn, fetchUnlessRefused, isRefusal, type PageReading, type SliceReading } from './page-reading.ts'
import type { Slice } from './slice-work.ts'
import { cutTime, cutWindowAt, GAP, mayBeHalved, minutesWithin, SHORTEST_WINDOW } from './windows.ts'

/** The same slice over a part of its window. */
export function partOf(slice: Slice, window: Window): Slice {
  const { from = window.from, to = window.to } = slice.covers ?? {}
  const covered = { from: Math.max(window.from, from), to: Math.min(window.to, to) }
  const covers = slice.covers && covered.from < covered.to ? covered : undefined
  return { ...slice, window, asked: undefined, announced: undefined, covers }
}

/** Slices over these windows; undefined where there is only one. */
export function toSlices(slice: Slice, windows: readonly Window[]): readonly Slice[] | undefined {
  return windows.length < 2 ? undefined : windows.map((window) => partOf(slice, window))
}

/** Cuts: enough to find one row among those of a page, also where all parts are cut before one of them is proven. */
const LONGEST_SEARCH = 16
/** Such rows that may be found in one list in a run. */
const MOST_FOUND = 4

/**
 * Whether a slice that proves nothing may be cut. One of several answers always may: its parts move less. Among the
 * rows of one answer cutting finds those that keep it from its proof, or ends soon: where the service's total is never
 * true, or each answer repeats a row, no part proves itself, and to go on would cost some forty calls a row. Parts that
 * are proven allow more cuts; rows without an id land only there, so of these twice as many.
 */
export function mayBeSearched({ window, search, stream }: Slice, isOneAnswer = true): boolean {
  if (search === undefined || !isOneAnswer) return mayBeHalved(window)
  const { cuts, proven } = search
  const most = stream.identity ? LONGEST_SEARCH + 2 * proven : LONGEST_SEARCH * MOST_FOUND + proven
  return mayBeHalved(window) && cuts < most
}

/** Parts of a slice that was cut as it proved nothing. @param isOneAnswer whether all of its rows came in one answer */
export function searchWithin(slice: Slice, parts: readonly Slice[], isOneAnswer: boolean): readonly Slice[] {
  const search = slice.search ?? (isOneAnswer ? { cuts: 0, proven: 0 } : undefined)
  if (search && (isOneAnswer || slice.stream.identity)) search.cuts++
  return parts.map((part) => ({ ...part, search }))
}

/** From when on rows are too young to count as covered; undefined where all or none are. Only they move. */
export function tooYoungFrom({ window, covers }: Slice): WallTime | undefined {
  return window !== undefined && covers !== undefined && covers.to < window.to ? covers.to : undefined
}

/**
 * Cuts a slice that could not be read as it is (a page was refused, or the list kept moving): before the rows too young
 * to count as covered, else in half.
 * @returns undefined for one minute
 */
export function splitSlice(slice: Slice, rows: readonly Row[], timeZone: string): readonly Slice[] | undefined {
  const at = tooYoungFrom(slice)
  return slice.window && at ? toSlices(slice, cutWindowAt(slice.window, [at])) : halveSlice(slice, rows, timeZone)
}

/**
 * Cuts a slice at the midnight next to the middle of these rows, or of its window where there are none; within a day at
 * their middle. A minute that has all of them becomes a part that no other request overlaps.
 * @returns undefined for one minute
 */
export function halveSlice(slice: Slice, rows: readonly Row[], timeZone: string): readonly Slice[] | undefined {
  const { window, stream } = slice
  if (window === undefined) return undefined
  const times = minutesWithin(window, rows, stream, timeZone).toSorted((a, b) => a - b)
  const middle = times[Math.floor(times.length / 2)] ?? floorToMinute((window.from + window.to) / 2)
  const isCrowded = times.length > 1 && times.every((time) => time === middle)
  const around = isCrowded ? cutWindowAt(window, [middle - GAP, middle + GAP]) : []
  return toSlices(slice, around.length > 1 ? around : cutWindowAt(window, [cutTime(window, middle)]))
}

/**
 * The parts of a window, each with how many rows are announced for it; undefined where these are fewer than the whole
 * shows, unless it is cut in any case. A service may show a row with two times only in a range that holds both: then a
 * row across a cut would be in no part. What was announced for a slice that is itself a part still holds. Where
 * surprisingly few are announced, what is missing may be of any part but one that is too young to count.
 * @param told the largest total of the window
 */
export async function countParts(
  { stream, announced = 0 }: Slice,
  parts: readonly Slice[] | undefined,
  told: number,
  pages: PageReading,
  inAnyCase = false,
): Promise<readonly Slice[] | undefined> {
  const total = Math.max(told, announced)
  const { window } = pages.list
  if (parts === undefined || window === undefined || !stream.isCounted) return parts
  // At half a minute, where no time in whole minutes lies. The ranges overlap by a second, so that a row at a cut is in
  // one of them, whichever of its ends a range includes.
  const inOrder = parts.toSorted((a, b) => (a.window?.to ?? 0) - (b.window?.to ?? 0))
  const cuts = inOrder.slice(0, -1).flatMap((part) => (part.window ? [part.window.to + MINUTE / 2] : []))
  const ends = [...cuts, window.to]
  const ranges = ends.map((to, index) => ({ from: index === 0 ? window.from : (ends[index - 1] ?? 0) - 1, to }))
  const counts = await Promise.all(ranges.map(async (range) => await countIn(range, pages)))
  const sum = counts.reduce((some, count) => some + count, 0)
  // Rows that have left the range meanwhile are in no part.
  if (sum < total && !inAnyCase && sum < (await countIn(window, pages))) return undefined
  const missing = isDrop(sum, total) ? total - sum : 0
  return parts.map((part) => {
    const count = counts[inOrder.indexOf(part)] ?? 0
    return { ...part, announced: part.covers === undefined ? count : count + missing }
  })
}

/** How long a range is of which so many days are asked for, a minute more on both sides. */
export const lengthAsked = (days: number) => days * DAY - 2 * MINUTE

/** Parts of a length, newest first; the oldest may be shorter. */
export function cutToLength(window: Window, length: number): readonly Window[] {
  const bounds = Array.from({ length: Math.ceil((window.to - window.from) / length) }, (_, n) => window.to - n * length)
  return cutWindowAt(window, bounds)
}

/**
 * Cuts a slice whose first page the service refuses: it may serve no range that is so long. Asks for the newest day,
 * then for twice as much each time, until the longest range that is served is known well enough. Where it is refused
 * only as it ends in the future, it is read again up to now.
 * @throws `error` where it is no refusal, or the window no longer than a day; the refusal of a day
 */
export async function cutToServed(
  { window, ...slice }: Slice,
  { pages, mustEndNow }: SliceReading,
  error: unknown,
): Promise<readonly Slice[]> {
  if (!isRefusal(error) || window === undefined) throw error
  const newest = (length: number): PageReading => {
    const asked = askedOf({ window: { from: window.to - length, to: window.to } })
    return { ...pages, list: { ...pages.list, window: asked } }
  }
  let [served, refused] = [lengthAsked(1), window.to - window.from]
  const day = refused > served ? await fetchUnlessRefused(newest(served), 1) : { refusal: error }
  if ('refusal' in day) {
    if (await mustEndNow(Math.max(window.from, window.to - DAY), 0)) return [{ ...slice, window }]
    throw day.refusal
  }
  while (refused - served > served / 8) {
    const length = Math.min(2 * served, floorToMinute((served + refused) / 2))
    if ('refusal' in (await fetchUnlessRefused(newest(length), 1))) refused = length
    else served = length
  }
  return cutToLength(window, served).map((part) => partOf({ ...slice, window }, part))
}

/**
 * Finds where to cut a window whose total may only be the most that the service counts. Counts both halves, then those
 * of a half with the same total, until two halves together have more, which shows the limit, or each has fewer.
 * @returns undefined where the total is true, or all rows lie within the shortest window
 */
export async function findBound(
  { from, to }: Window,
  total: number,
  pages: PageReading,
): Promise<WallTime | undefined> {
  if (to - from <= SHORTEST_WINDOW) return undefined
  const middle = cutTime({ from: floorToMinute(from), to }, floorToMinute((from + to) / 2))
  const [older, newer] = [
    // A second apart: also where ranges include both ends, a row is in one of them only.
    { from, to: middle - 1 },
    { from: middle, to },
  ]
  const [ofOlder, ofNewer] = await Promise.all([countIn(older, pages), countIn(newer, pages)])
  const sum = ofOlder + ofNewer
  if (sum > total) {
    // A live list may have grown since it was counted, and a total of a whole day, or of all, is that of any part.
    const isLive = sum <= (await countIn({ from, to }, pages))
    return isLive || total === (await countIn({ from, to: from + MINUTE }, pages)) ? undefined : middle
  }
  const whole = ofNewer === total ? newer : ofOlder === total ? older : undefined
  return whole && (await findBound(whole, total, pages))
}
