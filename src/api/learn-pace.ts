import type { Admissions, CallPace } from './call-pace.ts'
import { callRate, useLimit } from './call-rate.ts'
import {
  admittedAtRefusal,
  admittedLately,
  admittedRate,
  BUCKET_MS,
  LAG_MS,
  LONGEST_WINDOW_MS,
  tellFloor,
  tellLimit,
} from './tell-limit.ts'

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
/**
 * A fall shows so much later: some calls have been granted already, the service may look back over a second, and what it took in
 * a second since must have been told.
 */
const HOLD_MS = 1000 + LAG_MS
/** After a refusal nothing leaves for so long: a service that counts by seconds takes none until its second is over. */
const REST_MS = 50
/** A rate that is not used to this share proves nothing. */
const USED = 0.7
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
  const admissions = addAdmissions(pace, report)
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
  // Others tell later what they saw before the refusal: it counts towards what was admitted then.
  const atRefusal = limit.isOpen ? admittedAtRefusal(pace, limit.foundAtMs) : 0
  const floor = limit.floor > 0 ? tellFloor(pace, limit.foundAtMs) : 0
  const known = atRefusal > limit.peak ? { ...limit, peak: atRefusal, floor } : limit
  const rate = callRate({ ...pace, limit: known }, ceiling)
  if (admittedLately(pace, rate, nowMs) < rate * USED) return { ...pace, limit: known }
  const calls = admissions.filter(({ atMs }) => atMs > limit.foundAtMs).reduce((sum, { count }) => sum + count, 0)
  const used = useLimit(known, calls, ceiling)
  return used ? { ...pace, limit: used } : { ...pace, limit: undefined, sinceMs: nowMs }
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
    // A service that takes all of a second's calls at once is not the one that takes none.
    const lately = admittedLately(pace, rate, nowMs)
    const fallen = lately >= BLIND_CALLS ? lately : Math.max(limit.peak * FALL_WHEN_BLIND, LOWEST_RATE)
    const found = { foundAtMs: nowMs, usedMs: 0, peak: limit.apartMs > 0 ? limit.peak : fallen }
    return { ...paused, nextAtMs, limit: { ...limit, ...found, apartMs, isOpen: false, floor: 0 } }
  }
  const told = tellLimit(pace, rate, pauseMs > 0, nowMs)
  const peak = Math.max(told.peak, LOWEST_RATE)
  const floor = !limit && told.isOpen ? Math.min(tellFloor(pace, nowMs), peak) : 0
  const found = { foundAtMs: nowMs, usedMs: 0, pauseMs, apartMs: 0, lagMs: Math.max(0, nowMs - leftAtMs) }
  const pausedUntilMs = Math.max(paused.pausedUntilMs, nowMs + REST_MS)
  return { ...paused, pausedUntilMs, limit: { ...found, peak, floor, isOpen: told.isOpen } }
}

function isBlind(pace: CallPace, rate: number, nowMs: number): boolean {
  return admittedRate(pace, nowMs, Math.max(BLIND_MS, (BLIND_CALLS / rate) * 1000)) === 0
}

function addAdmissions(pace: CallPace, { nowMs, admissions }: PaceReport): readonly Admissions[] {
  const counts = new Map<number, number>()
  for (const { atMs, count } of [...pace.admissions, ...admissions]) {
    const bucketMs = Math.floor(atMs / BUCKET_MS) * BUCKET_MS
    if (bucketMs > nowMs - LONGEST_WINDOW_MS - 2 * LAG_MS) counts.set(bucketMs, (counts.get(bucketMs) ?? 0) + count)
  }
  return [...counts].map(([atMs, count]) => ({ atMs, count })).toSorted((a, b) => a.atMs - b.atMs)
}
