import type { Window } from '../core/slice.ts'
import { floorToMinute, MINUTE, type WallTime } from '../core/wall-clock.ts'

/** When the rows of a page came to be, as far as that can be read, in any order. */
export interface PageTimes {
  /** From 1. */
  readonly number: number
  readonly times: readonly WallTime[]
}

/** Where a list is to be cut. */
export interface CutQuestion {
  readonly window: Window
  /** What has been looked at, in the order of the list. */
  readonly pages: readonly PageTimes[]
  /** The pages at which parts should begin. */
  readonly targets: readonly number[]
  /** A page that is no farther from a target is as good. */
  readonly reach: number
  /** A bound at which more rows would be read twice is left out. */
  readonly mostTwice: number
}

/** A whole minute to cut at, and how many rows around it are read twice: each part asks for a minute more on both sides. */
export interface Bound {
  readonly at: WallTime
  readonly twice: number
}

/** As much around a bound is read twice. */
const OVERLAP = MINUTE
/** A part whose question must not reach into a minute keeps so far from it, whether ends belong to a filter or not. */
const APART = 2 * MINUTE
/** The parts of a shorter window would ask for nearly the same. */
export const SHORTEST_WINDOW = 2 * APART
/** Pages that are closer in time have no pause between them that is worth looking for. */
const LEAST_PAUSE = 600
/** Fewer rows say nothing of how close together they come. */
const FEWEST_ROWS = 10

/**
 * Chooses times that cut a list into parts of about equally many rows. In a list in order of time, either way, each page that was
 * looked at shows where in time it lies; in any other order all of them together are a sample of the whole. Whatever it is, the
 * parts between the bounds are the window.
 * @returns whole minutes inside the window, ascending; none where the rows lie too close together
 */
export function chooseBounds({ window, pages, targets, reach, mostTwice }: CutQuestion): readonly WallTime[] {
  const known = pages.filter(({ times }) => times.length > 0)
  const isInside = (time: WallTime) => time > window.from && time < window.to
  const chosen = isInOrder(known)
    ? targets.flatMap((target) => boundNear(target, known, reach))
    : sampleBounds(known, targets.length + 1)
  const crowded = crowdedMinutes(known)
  const bounds = chosen.flatMap(({ at, twice }) => {
    const crowd = crowded.find((minute) => Math.abs(at - minute) < APART)
    if (crowd !== undefined) return [crowd - APART, crowd + APART]
    if (twice > mostTwice) return []
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

/** The quietest minute near a target, if there is any page: on one, or between two. Of equally quiet ones the nearest. */
function boundNear(target: number, pages: readonly PageTimes[], reach: number): readonly Bound[] {
  const distance = ({ number }: PageTimes) => Math.abs(number - target)
  const near = pages.filter((page) => distance(page) <= reach)
  const between = near.slice(1).flatMap((next, index) => boundBetween(near[index] ?? next, next))
  const on = near.toSorted((one, other) => distance(one) - distance(other)).map(({ times }) => quietestBound(times))
  return [...on, ...between].sort((one, other) => one.twice - other.twice).slice(0, 1)
}

/** Whether other pages that were looked at near one show a minute at which less than half as much is read twice. */
export function isQuieterNear(page: PageTimes, others: readonly PageTimes[], reach: number): boolean {
  const near = [page, ...others.filter(({ times }) => times.length > 0)].sort((one, other) => one.number - other.number)
  const [best] = boundNear(page.number, near, reach)
  return best !== undefined && best.twice < quietestBound(page.times).twice / 2
}

/** Halfway in time between two pages that follow each other, where nothing is known of those between but how many they are. */
function boundBetween(one: PageTimes, other: PageTimes): readonly Bound[] {
  const [before, behind] = [rangeOf(one), rangeOf(other)].sort((a, b) => a.low - b.low)
  if (before === undefined || behind === undefined) return []
  const pause = behind.low - before.high
  if (pause < LEAST_PAUSE) return []
  const rows = (other.number - one.number) * one.times.length
  return [{ at: floorToMinute((before.high + behind.low) / 2), twice: (rows / pause) * 2 * OVERLAP }]
}

/** The minute between the rows of a page at which the fewest are read twice. @param times at least one */
export function quietestBound(times: readonly WallTime[]): Bound {
  const sorted = times.toSorted((a, b) => a - b)
  const first = sorted[0] ?? 0
  const last = sorted.at(-1) ?? first
  const rate = sorted.length < FEWEST_ROWS ? 0 : sorted.length / (last - first || MINUTE)
  const middles = sorted
    .slice(1)
    .map((time, index) => Math.round(((sorted[index] ?? time) + time) / 2 / MINUTE) * MINUTE)
  let best: Bound | undefined
  for (const at of new Set(middles.length > 0 ? middles : [floorToMinute(first)])) {
    const seen = sorted.filter((time) => Math.abs(time - at) <= OVERLAP).length
    const unseen = Math.max(0, first - (at - OVERLAP)) + Math.max(0, at + OVERLAP - last)
    const twice = seen + rate * Math.min(unseen, 2 * OVERLAP)
    if (best === undefined || twice < best.twice) best = { at, twice }
  }
  return best ?? { at: floorToMinute(first), twice: 0 }
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

function sampleBounds(pages: readonly PageTimes[], parts: number): readonly Bound[] {
  const sample = pages.flatMap(({ times }) => times).sort((a, b) => a - b)
  return Array.from({ length: parts - 1 }, (_, index) => {
    return { at: floorToMinute(quantile(sample, (index + 1) / parts)), twice: 0 }
  })
}

function quantile(sorted: readonly WallTime[], share: number): WallTime {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
