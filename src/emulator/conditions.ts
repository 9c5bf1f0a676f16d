import type { Clock } from '../core/clock.ts'
import { formatWallDate, wallTimeAt } from '../core/wall-clock.ts'
import { oneOf } from './switches.ts'

/** How fast the emulated service answers, and what its clock shows; may be changed while it runs. */
export type Conditions = typeof defaultConditions

export const defaultConditions = {
  latencyMs: 0,
  /** The latency of a call varies by up to this much, either way. */
  jitterMs: 0,
  /** Added for each page before the requested one, as real services scan all the rows before a deep page. */
  deepPageMs: 0,
  /** Calls beyond this rate are refused with 429 and code 429001; undefined for no limit. */
  callsPerSecond: oneOf<number | undefined>(undefined),
  /** The `Retry-After` header of these refusals; undefined for none. */
  retryAfterSeconds: oneOf<number | undefined>(undefined),
  /** How far the emulator's clock is ahead of the clock in its options. */
  clockAheadMs: 0,
  /** How old the `Date` header of `/` is, as if a cache that sends no `Age` had answered. */
  frontPageAgeMs: 0,
  /** Whether answers have a `Date` header, by the emulator's clock. */
  tellsTime: true,
}

/** A token bucket that holds one second's calls. @returns whether the next call may pass; always, without a rate */
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

/** Ten calls for each scope and day of the service (API 4.6). @returns whether a call was left, which it then takes */
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
