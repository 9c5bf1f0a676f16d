import type { Window } from '../core/slice.ts'
import { DAY, floorToMinute, MINUTE, type WallTime } from '../core/wall-clock.ts'

/** When the rows of a page came to be, as far as that can be read, in any order. */
export interface PageTimes {
  /** From 1. */
  readonly number: number
  readonly times: readonly WallTime[]
}

/** As much around a bound is read twice: each part asks for a minute more on both sides. */
const OVERLAP = MINUTE
/** A part whose question must not reach into a minute keeps so far from it, whether ends belong to a filter or not. */
const APART = 2 * MINUTE
/** The parts of a shorter window would ask for nearly the same. */
export const SHORTEST_WINDOW = 2 * APART

/**
 * Chooses times that cut a list into parts of about equally many rows. In a list in order of time, either way, each page that was
 * looked at shows where in time it lies; in any other order all of them together are a sample of the whole. Whatever it is, the
 * parts between the bounds are the window.
 * @param pages what has been looked at, in the order of the list
 * @param targets the pages at which parts should begin
 * @returns whole minutes inside the window, ascending; none where the rows lie too close together
 */
export function chooseBounds(
  window: Window,
  pages: readonly PageTimes[],
  targets: readonly number[],
): readonly WallTime[] {
  const known = pages.filter(({ times }) => times.length > 0)
  const isInside = (time: WallTime) => time > window.from && time < window.to
  const chosen = isInOrder(known)
    ? known.filter(({ number }) => targets.includes(number)).map((page) => boundOn(page, known))
    : sampleBounds(known, targets.length + 1)
  const crowded = crowdedMinutes(known)
  const bounds = chosen.flatMap((at) => {
    const crowd = crowded.find((minute) => Math.abs(at - minute) < APART)
    if (crowd !== undefined) return [crowd - APART, crowd + APART]
    return isInside(at) ? [at] : [at - APART, at + APART]
  })
  return [...new Set(bounds.filter(isInside))].sort((a, b) => a - b)
}

/** Minutes that hold more than one of the pages: they are read as they are, and no other question reaches into them. */
function crowdedMinutes(pages: readonly PageTimes[]): readonly WallTime[] {
  const minutes = pages.flatMap(({ times }) => {
    const [first, last] = [floorToMinute(Math.min(...times)), floorToMinute(Math.max(...times))]
    return first === last && times.length > 1 ? [first] : []
  })
  return minutes.filter((minute, index) => minutes.indexOf(minute) !== index)
}

/**
 * Where a part begins on a page: at its quietest minute. Where its rows lie too close together to show one, at the time of day at
 * which the fewest rows come about, if that is nearer than any other page that was looked at.
 */
function boundOn(page: PageTimes, pages: readonly PageTimes[]): WallTime {
  const quiet = quietestMinute(page.times)
  if (quiet !== undefined) return quiet
  const middle = middleOf(page.times)
  const others = pages.filter((other) => other !== page).map(({ times }) => Math.abs(middleOf(times) - middle))
  const timeOfDay = quietestTimeOfDay(pages.flatMap(({ times }) => times))
  const nearest = timeOfDay + Math.round((middle - timeOfDay) / DAY) * DAY
  return Math.abs(nearest - middle) < Math.min(...others) ? nearest : floorToMinute(middle)
}

/** The minute around which the fewest rows of a page lie; undefined where none lies so far within it that all around it are seen. */
function quietestMinute(times: readonly WallTime[]): WallTime | undefined {
  const sorted = times.toSorted((a, b) => a - b)
  const [first = 0, last = 0] = [sorted[0], sorted.at(-1)]
  const between = sorted.slice(1).map((time, index) => floorToMinute(((sorted[index] ?? time) + time) / 2))
  const minutes = [...new Set(between)].filter((at) => at - OVERLAP > first && at + OVERLAP < last)
  const rowsAround = (at: WallTime) => sorted.filter((time) => Math.abs(time - at) <= OVERLAP).length
  return minutes.sort((one, other) => rowsAround(one) - rowsAround(other))[0]
}

/** The middle of the longest pause of a day, in seconds from midnight; a whole minute. */
function quietestTimeOfDay(times: readonly WallTime[]): number {
  const sorted = times.map((time) => time % DAY).sort((a, b) => a - b)
  const pauses = sorted.map((from, index) => ({ from, seconds: (sorted[index + 1] ?? (sorted[0] ?? 0) + DAY) - from }))
  const longest = pauses.reduce((most, each) => (each.seconds > most.seconds ? each : most), { from: 0, seconds: 0 })
  return floorToMinute(longest.from + longest.seconds / 2)
}

function middleOf(times: readonly WallTime[]): WallTime {
  return quantile(
    times.toSorted((a, b) => a - b),
    0.5,
  )
}

/** Whether pages follow each other in time, one way or the other, but for a few rows of each. */
function isInOrder(pages: readonly PageTimes[]): boolean {
  const ranges = pages.map(rangeOf)
  const steps = ranges.slice(1).map((next, index) => ({ next, before: ranges[index] ?? next }))
  return (
    steps.every(({ next, before }) => next.low >= before.high) ||
    steps.every(({ next, before }) => next.high <= before.low)
  )
}

/** Of most of its rows. */
function rangeOf({ times }: PageTimes): { readonly low: WallTime; readonly high: WallTime } {
  const sorted = times.toSorted((a, b) => a - b)
  return { low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) }
}

function sampleBounds(pages: readonly PageTimes[], parts: number): readonly WallTime[] {
  const sample = pages.flatMap(({ times }) => times).sort((a, b) => a - b)
  return Array.from({ length: parts - 1 }, (_, index) => floorToMinute(quantile(sample, (index + 1) / parts)))
}

function quantile(sorted: readonly WallTime[], share: number): WallTime {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
