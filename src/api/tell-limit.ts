import type { CallPace } from './call-pace.ts'
import { FALL } from './call-rate.ts'

/** What was admitted in a second tells the limit, or in more where that holds few calls. */
const WINDOW_MS = 1000
const CALLS_TO_TELL = 40
/** Nothing that was admitted earlier is looked at. */
export const LONGEST_WINDOW_MS = 10_000
export const BUCKET_MS = 100
/** So late do others tell what they saw, at most. */
export const LAG_MS = 300
/** While nothing is sent, a service may save up the calls of so long. */
const SAVED_MS = 1000
/** A service that still takes more after that is used at no more than a sixth beyond its limit. */
const SAVED_SHOWS_MS = 6000
/** Seconds that differ by less hold the same. */
const STEADY = 0.9
/** So far from what was admitted lately towards what is left of it without saved calls, where it can be either. */
const DOUBT_AT_FIRST = 0.5
const DOUBT_AFTER_PAUSE = 0.25
/** So long is what follows from a first refusal in doubt. */
const DOUBTFUL_MS = 4000

export interface ToldLimit {
  /** Calls a second; the rate falls a little below it. */
  readonly peak: number
  /** Whether it is what was admitted lately, of which others may tell more. */
  readonly isOpen: boolean
}

/** What the calls that were admitted tell of the limit when one has been refused. */
export function tellLimit(pace: CallPace, rate: number, isPaused: boolean, nowMs: number): ToldLimit {
  const lately = admittedLately(pace, rate, nowMs)
  const { limit } = pace
  const isDoubtful = !limit || isPaused || (limit.floor > 0 && nowMs < limit.foundAtMs + DOUBTFUL_MS)
  const peak = isDoubtful ? Math.min(lately, withSaved(pace, lately, nowMs)) : lately
  return { peak, isOpen: peak === lately }
}

/**
 * A service that saves up calls while none come takes more than its limit until those are gone. So where calls went out after a
 * pause, or for the first time, and it took as many for seconds and now no more, the pause counts as time of taking too.
 */
function withSaved(pace: CallPace, lately: number, nowMs: number): number {
  const { limit } = pace
  const activeMs = nowMs - (limit ? limit.foundAtMs + limit.pauseMs : beginOf(pace, nowMs))
  if (activeMs < WINDOW_MS || activeMs > SAVED_SHOWS_MS) return lately
  const savedMs = limit ? Math.min(limit.pauseMs, SAVED_MS) : SAVED_MS
  const overall = countWithin(pace, nowMs - activeMs, nowMs) / ((activeMs + savedMs) / 1000)
  if (limit && limit.floor > 0) return (lately + overall) / 2
  // Too short to tell it from a service whose seconds are others than ours.
  if (activeMs < 2 * WINDOW_MS) return lately + (overall - lately) * (limit ? DOUBT_AFTER_PAUSE : DOUBT_AT_FIRST)
  const before = countWithin(pace, nowMs - 2 * WINDOW_MS, nowMs - WINDOW_MS) / (WINDOW_MS / 1000)
  // It is exact: there is nothing to fall below.
  return before < lately * STEADY ? lately : overall / FALL
}

/** Calls a second that the service takes if it had saved up as many as it can when the first were made. */
export function tellFloor(pace: CallPace, atMs: number): number {
  const fromMs = beginOf(pace, atMs)
  return countWithin(pace, fromMs - BUCKET_MS, atMs + BUCKET_MS) / ((atMs - fromMs + SAVED_MS) / 1000)
}

/** When calls began to go out, as far as it is known. */
function beginOf({ sinceMs, admissions }: CallPace, nowMs: number): number {
  return Math.max(sinceMs, admissions[0]?.atMs ?? nowMs)
}

/** Calls a second that had been taken when the last refusal came, with what others have told since. */
export function admittedAtRefusal(pace: CallPace, foundAtMs: number): number {
  return admittedRate(pace, foundAtMs + BUCKET_MS, WINDOW_MS)
}

/** Calls a second that were taken lately, as far as those who share the pace have told. */
export function admittedLately(pace: CallPace, rate: number, nowMs: number): number {
  const windowMs = Math.min(Math.max(WINDOW_MS, (CALLS_TO_TELL / rate) * 1000), LONGEST_WINDOW_MS)
  const last = admittedRate(pace, nowMs, windowMs)
  // Before the last refusal, others may have been taken that were saved up.
  const isSince = pace.limit === undefined || nowMs - LAG_MS - WINDOW_MS > pace.limit.foundAtMs
  return isSince ? Math.max(last, admittedRate(pace, nowMs - LAG_MS, windowMs)) : last
}

/** Calls a second that were taken in the window that ends at an instant, as far as it is known; of whole tenths. */
export function admittedRate(pace: CallPace, atMs: number, longestMs: number): number {
  const windowMs = Math.min(longestMs, Math.max(WINDOW_MS, atMs - pace.sinceMs))
  return countWithin(pace, atMs - windowMs, atMs) / (windowMs / 1000)
}

function countWithin({ admissions }: CallPace, fromMs: number, toMs: number): number {
  return admissions.reduce((sum, { atMs, count }) => (atMs >= fromMs && atMs <= toMs ? sum + count : sum), 0)
}
