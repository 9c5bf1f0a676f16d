import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'

/** Leave for one call to go out now; the caller says how it ended, where that tells something about the service's limit. */
export interface Permit {
  readonly admitted: () => void
  readonly refused: (retryAfterMs: number | undefined) => void
}

/** Decides when the next call may go out. Several processes can share one source. */
export interface Permits {
  /** Resolves in the order of asking; rejects with the signal's reason. */
  readonly take: (signal: AbortSignal) => Promise<Permit>
}

export interface PermitsOptions {
  /** Hard ceiling; 0 for none. */
  readonly maxCallsPerSecond: number
  readonly clock: Clock
  readonly log: Log
}

const WINDOW_MS = 1000
/** Added to the window of the ceiling: the service's clock and the network shift calls against each other. */
const MARGIN_MS = 10
const LOWEST_RATE = 0.1
/** Share of the rate by which a second of admitted calls raises it: slower where the last refusal came from. */
const RISE = 0.05
const RISE_NEAR_LIMIT = 0.01
const LONGEST_PAUSE_MS = 60_000

/**
 * Paces the calls of one process. Its limits are not shown by the spec, so the rate is found: unlimited below the ceiling
 * until the service refuses, then what it admitted within the last second, then gently upwards.
 */
export function createPermits({ maxCallsPerSecond, clock, log }: PermitsOptions): Permits {
  const ceiling = createCeiling(maxCallsPerSecond)
  const rateLimit = maxCallsPerSecond > 0 ? maxCallsPerSecond : Number.POSITIVE_INFINITY
  let rate = rateLimit
  let refusedRate = Number.POSITIVE_INFINITY
  let droppedAt = Number.NEGATIVE_INFINITY
  let nextAt = Number.NEGATIVE_INFINITY
  let admissions: number[] = []
  let turn: Promise<unknown> = Promise.resolve()

  const depart = async (signal: AbortSignal): Promise<Permit> => {
    signal.throwIfAborted()
    for (;;) {
      const waitMs = Math.max(nextAt, ceiling.opensAt()) - clock.now()
      if (waitMs <= 0) break
      await clock.sleep(Math.ceil(waitMs), signal)
    }
    const departedAt = clock.now()
    ceiling.pass(departedAt)
    // From the planned time, not the real one: a timer that is late now and then does not lower the rate.
    nextAt = Math.max(nextAt, departedAt - WINDOW_MS / rate) + WINDOW_MS / rate
    return { admitted, refused: (retryAfterMs) => refused(departedAt, retryAfterMs) }
  }

  const admitted = (): void => {
    const now = clock.now()
    admissions = [...admissions.filter((at) => at > now - WINDOW_MS), now]
    if (rate >= rateLimit) return
    rate = Math.min(rateLimit, rate + (rate < refusedRate * 0.9 ? RISE : RISE_NEAR_LIMIT))
  }

  const refused = (departedAt: number, retryAfterMs: number | undefined): void => {
    const now = clock.now()
    if (retryAfterMs !== undefined) nextAt = Math.max(nextAt, now + Math.min(retryAfterMs, LONGEST_PAUSE_MS))
    // Calls that were on their way when the rate dropped say nothing about the new one.
    if (departedAt <= droppedAt) return
    const admittedRate = admissions.filter((at) => at > now - WINDOW_MS).length / (WINDOW_MS / 1000)
    refusedRate = Math.min(rate, Math.max(admittedRate, LOWEST_RATE))
    // Nothing admitted at all: the old rate says nothing, unless it was low already.
    rate = admittedRate > 0 ? refusedRate : Math.max(LOWEST_RATE, Math.min(rate / 2, 1))
    droppedAt = now
    log.debug('calls.slowed', { callsPerSecond: rate })
  }

  return {
    take: (signal) => {
      const mine = turn.then(() => depart(signal))
      turn = mine.catch(() => {})
      return mine
    },
  }
}

/** Never more than the ceiling within any window of a second (or of one call, where the ceiling is below one a second). */
function createCeiling(maxCallsPerSecond: number): { opensAt: () => number; pass: (at: number) => void } {
  if (maxCallsPerSecond <= 0) return { opensAt: () => Number.NEGATIVE_INFINITY, pass: () => {} }
  const size = Math.max(1, Math.floor(maxCallsPerSecond))
  const windowMs = (size / maxCallsPerSecond) * 1000 + MARGIN_MS
  const departures: number[] = []
  return {
    opensAt: () => (departures.length < size ? Number.NEGATIVE_INFINITY : (departures[0] ?? 0) + windowMs),
    pass: (at) => {
      departures.push(at)
      if (departures.length > size) departures.shift()
    },
  }
}
