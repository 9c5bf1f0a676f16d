import type { Admissions, CallPace } from './call-pace.ts'
import { callRate, useLimit } from './call-rate.ts'

/** What one of those who share the pace has seen since it last told. */
export interface PaceReport {
  readonly nowMs: number
  readonly admissions: readonly Admissions[]
  readonly refusals: readonly Refusal[]
}

export interface Refusal {
  /** When the call left. */
  readonly leftAtMs: number
  readonly retryAfterMs: number | undefined
}

const LOWEST_RATE = 0.1
/** Nothing is held back for longer, whatever the service asks for. */
export const LONGEST_PAUSE_MS = 60_000
/** What was admitted in a second tells the limit, or in more where that holds few calls. */
const WINDOW_MS = 1000
const CALLS_TO_TELL = 40
const LONGEST_WINDOW_MS = 10_000
const BUCKET_MS = 100
/** So late do others tell what they saw, at most. */
const LAG_MS = 300
/** A fall shows so much later: some calls have been granted already, and the service may look back. */
const HOLD_MS = 600
/** Below this share of the rate, what was admitted tells little about the limit. */
const GUESS = 0.5
/** A rate that is not used to this share proves nothing. */
const USED = 0.7
const USED_BY_GUESS = 0.5
/** Nothing admitted in this time, or that of so many calls: everything is refused. */
const BLIND_MS = 600
const BLIND_CALLS = 5
const FALL_WHEN_BLIND = 0.8
const SHORTEST_APART_MS = 300
const LONGEST_APART_MS = 30_000

/**
 * Learns from what the service has taken and refused. A refusal brings the rate down to what was admitted lately
 * (`call-rate.ts` has what follows); where everything is refused, single calls find out when that ends.
 */
export function learnPace(pace: CallPace, report: PaceReport, ceiling: number): CallPace {
  if (report.admissions.length === 0 && report.refusals.length === 0) return pace
  const admissions = addAdmissions(pace, report, ceiling)
  const informed = learnAdmissions({ ...pace, admissions }, report, ceiling)
  return report.refusals.reduce((before, refusal) => learnRefusal(before, refusal, report.nowMs, ceiling), informed)
}

function learnAdmissions(pace: CallPace, { nowMs, admissions }: PaceReport, ceiling: number): CallPace {
  const { limit } = pace
  if (!limit) return pace
  if (limit.apartMs > 0) {
    const isOver = admissions.some(({ atMs }) => atMs >= limit.foundAtMs + limit.apartMs)
    return isOver ? { ...pace, limit: { ...limit, foundAtMs: nowMs, usedMs: 0, apartMs: 0 } } : pace
  }
  // Others tell later what they saw before the first refusal: it counts towards what was admitted then.
  const atFirst = limit.isGuess ? admittedRate(pace, limit.foundAtMs, WINDOW_MS) : 0
  const known = atFirst > limit.peak ? { ...limit, peak: atFirst } : limit
  const rate = callRate({ ...pace, limit: known }, ceiling)
  if (lately(pace, rate, nowMs) < rate * (limit.isGuess ? USED_BY_GUESS : USED)) return { ...pace, limit: known }
  const calls = admissions.filter(({ atMs }) => atMs > limit.foundAtMs).reduce((sum, { count }) => sum + count, 0)
  return { ...pace, limit: useLimit(known, calls, ceiling) }
}

function learnRefusal(
  pace: CallPace,
  { leftAtMs, retryAfterMs = 0 }: Refusal,
  nowMs: number,
  ceiling: number,
): CallPace {
  const pauseMs = Math.min(retryAfterMs, LONGEST_PAUSE_MS)
  const paused = pauseMs > 0 ? { ...pace, pausedUntilMs: Math.max(pace.pausedUntilMs, nowMs + pauseMs) } : pace
  const { limit } = pace
  if (limit && leftAtMs < limit.foundAtMs + (limit.apartMs > 0 ? limit.apartMs : HOLD_MS)) {
    return { ...paused, limit: { ...limit, pauseMs: Math.max(limit.pauseMs, pauseMs) } }
  }
  const rate = callRate(pace, ceiling)
  if (limit && (limit.apartMs > 0 || isBlind(pace, rate, nowMs))) {
    const apartMs = Math.min(Math.max(limit.apartMs * 2, SHORTEST_APART_MS), LONGEST_APART_MS)
    const nextAtMs = Math.max(pace.nextAtMs, nowMs + apartMs)
    const peak = limit.apartMs > 0 ? limit.peak : Math.max(limit.peak * FALL_WHEN_BLIND, LOWEST_RATE)
    return { ...paused, nextAtMs, limit: { ...limit, foundAtMs: nowMs, usedMs: 0, apartMs, peak, isGuess: false } }
  }
  const admitted = lately(pace, rate, nowMs)
  const found = { foundAtMs: nowMs, usedMs: 0, pauseMs, apartMs: 0, lagMs: Math.max(0, nowMs - leftAtMs) }
  const isGuess = limit === undefined || admitted < rate * GUESS
  return { ...paused, limit: { ...found, isGuess, peak: Math.max(admitted, LOWEST_RATE) } }
}

/** Calls a second that were taken lately, as far as those who share the pace have told. */
function lately(pace: CallPace, rate: number, nowMs: number): number {
  const windowMs = windowOf(rate)
  return Math.max(admittedRate(pace, nowMs, windowMs), admittedRate(pace, nowMs - LAG_MS, windowMs))
}

function windowOf(rate: number): number {
  return Math.min(Math.max(WINDOW_MS, (CALLS_TO_TELL / rate) * 1000), LONGEST_WINDOW_MS)
}

function isBlind(pace: CallPace, rate: number, nowMs: number): boolean {
  return admittedRate(pace, nowMs, Math.max(BLIND_MS, (BLIND_CALLS / rate) * 1000)) === 0
}

/** Calls a second that were taken in the window that ends at an instant, as far as it is known; of whole tenths. */
function admittedRate({ admissions, sinceMs }: CallPace, atMs: number, longestMs: number): number {
  const windowMs = Math.min(longestMs, Math.max(WINDOW_MS, atMs - sinceMs))
  const within = admissions.filter((each) => each.atMs >= atMs - windowMs && each.atMs <= atMs)
  return within.reduce((sum, { count }) => sum + count, 0) / (windowMs / 1000)
}

function addAdmissions(pace: CallPace, { nowMs, admissions }: PaceReport, ceiling: number): readonly Admissions[] {
  const windowMs = windowOf(callRate(pace, ceiling))
  const counts = new Map<number, number>()
  for (const { atMs, count } of [...pace.admissions, ...admissions]) {
    const bucketMs = Math.floor(atMs / BUCKET_MS) * BUCKET_MS
    if (bucketMs > nowMs - windowMs - 2 * LAG_MS) counts.set(bucketMs, (counts.get(bucketMs) ?? 0) + count)
  }
  return [...counts].map(([atMs, count]) => ({ atMs, count })).toSorted((a, b) => a.atMs - b.atMs)
}
