import type { Clock } from '../core/clock.ts'

/** What the service's own clock shows, as its answers tell. */
export interface ServiceClock {
  /** Milliseconds since 1970. Asks the service where nothing fresh is known; without a `Date` header it is this machine's clock. */
  readonly now: (signal: AbortSignal) => Promise<number>
  /** Takes the `Date` of an answer that has just come; undefined for one without. */
  readonly observe: (serviceTimeMs: number | undefined) => void
}

/**
 * For so long the last `Date` counts, carried on by this machine's clock. In that time a jump of that clock can only be wrong by
 * as much: less than the distance that calls of 4.6 keep from midnight.
 */
const FRESH_MS = 60_000

/** @param ask the `Date` of any harmless answer; undefined where it has none */
export function createServiceClock(
  clock: Clock,
  ask: (signal: AbortSignal) => Promise<number | undefined>,
): ServiceClock {
  let skewMs = 0
  let knownAt: number | undefined
  const observe = (serviceTimeMs: number | undefined): void => {
    knownAt = clock.now()
    skewMs = serviceTimeMs === undefined ? 0 : serviceTimeMs - knownAt
  }
  return {
    observe: (serviceTimeMs) => {
      if (serviceTimeMs !== undefined) observe(serviceTimeMs)
    },
    now: async (signal) => {
      const ageMs = knownAt === undefined ? Infinity : clock.now() - knownAt
      if (ageMs < 0 || ageMs >= FRESH_MS) observe(await ask(signal))
      return clock.now() + skewMs
    },
  }
}
