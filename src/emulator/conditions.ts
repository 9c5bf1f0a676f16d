import type { Clock } from '../core/clock.ts'
import { formatWallDate, wallTimeAt } from '../core/wall-clock.ts'
import { oneOf } from './switches.ts'

/** How fast the emulated service answers, and what its clock shows; may be changed while it runs. */
export type Conditions = typeof defaultConditions

export const defaultConditions = {
  latencyMs: 0,
  /** By how much that differs at most from call to call, either way. */
  jitterMs: 0,
  /** How much longer each page takes than the one before it: a real service walks to a deep page row by row. */
  deepPageMs: 0,
  /** More calls a second are refused with 429 and 429001; undefined for no limit. */
  callsPerSecond: oneOf<number | undefined>(undefined),
  /** Sent as `Retry-After` with such a refusal; without it the header is missing. */
  retryAfterSeconds: oneOf<number | undefined>(undefined),
  /** How far its clock is ahead of the one that it was given. */
  clockAheadMs: 0,
  /** How old the answer of `/` is, as if it came from a cache that sends no `Age`. */
  frontPageAgeMs: 0,
  /** Whether answers say what its clock shows, in the header `Date`. */
  tellsTime: true,
}

/** @returns whether one more call may pass: a token bucket of one second's calls. Without a rate every call may. */
export function createRateLimit(conditions: Readonly<Conditions>, clock: Clock): () => boolean {
  let tokens = Number.POSITIVE_INFINITY
  let filledAt = clock.now()
  return () => {
    const { callsPerSecond } = conditions
    if (callsPerSecond === undefined) return true
    const now = clock.now()
    tokens = Math.min(Math.max(1, callsPerSecond), tokens + ((now - filledAt) / 1000) * callsPerSecond)
    filledAt = now
    if (tokens < 1) return false
    tokens -= 1
    return true
  }
}

const V1_CALLS_PER_DAY = 10

/** @returns whether `scope` has a call left on this day of the service's zone, and takes it (API 4.6). */
export function createDayBudget(clock: Clock, timeZone: string): (scope: string) => boolean {
  const used = new Map<string, number>()
  return (scope) => {
    const key = `${formatWallDate(wallTimeAt(clock.now(), timeZone))}/${scope}`
    const before = used.get(key) ?? 0
    if (before >= V1_CALLS_PER_DAY) return false
    used.set(key, before + 1)
    return true
  }
}
