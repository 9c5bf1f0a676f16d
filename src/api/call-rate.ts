import type { CallPace, FoundLimit } from './call-pace.ts'

/** Of the ceiling's window, for calls that the network, timers and the service's own clock shift against each other. */
const MARGIN_MS = 50
/** After a refusal the rate falls to this share of what was admitted, */
export const FALL = 0.95
/** comes back to it while about so many calls are made, in these times, */
const CALLS_TO_RECOVER = 70
const SHORTEST_RECOVERY_MS = 1500
const LONGEST_RECOVERY_MS = 60_000
/** and goes beyond by this share first, which doubles after this time, or so many calls where they take longer. */
const FIRST_STEP = 0.01
const DOUBLING_MS = 350
const CALLS_TO_DOUBLE = 15
/** Where calls may have been saved up, so long is the limit tried that would be left, and so long does the rate climb from there. */
const FLOOR_MS = 1000
const CLIMB_MS = 1000
/** Where each refusal costs a pause, they are so much rarer, the rate stays so far below, and the steps are so much slower. */
const RECOVERY_PER_PAUSE = 16
const KNEE_WITH_PAUSES = 0.985
const DOUBLING_PER_PAUSE = 1
/** Beyond so many times the limit that was found, that is no longer there: the new one is found as at first. */
const FORGET = 2
const FORGET_WITH_PAUSES = 16

/** Calls a second that may leave; infinite where nothing limits them. `ceiling` 0 is none. */
export function callRate({ limit }: CallPace, ceiling: number): number {
  return Math.min(limit ? limitedRate(limit) : Number.POSITIVE_INFINITY, ceilingRate(ceiling))
}

/** The limit after so many more admitted calls; undefined where they went beyond all that was known of it. */
export function useLimit(limit: FoundLimit, calls: number, ceiling: number): FoundLimit | undefined {
  if (limit.apartMs > 0) return limit
  const rate = limitedRate(limit)
  const isPast =
    rate > Math.min(limit.peak * (limit.pauseMs > 0 ? FORGET_WITH_PAUSES : FORGET), ceilingRate(ceiling) * 2)
  return isPast ? undefined : { ...limit, usedMs: limit.usedMs + (calls * 1000) / rate }
}

/** Falls below what was admitted, comes back to it steeply and then flatly, and goes beyond in steps that double. */
function limitedRate(limit: FoundLimit): number {
  const { peak, apartMs, floor, pauseMs } = limit
  if (apartMs > 0) return 1000 / apartMs
  const doubtMs = floor > 0 ? FLOOR_MS + CLIMB_MS : 0
  if (limit.usedMs < doubtMs) {
    const climbed = Math.max(0, (limit.usedMs - FLOOR_MS) / CLIMB_MS)
    return (floor + (peak - floor) * climbed) * FALL
  }
  const usedMs = limit.usedMs - doubtMs
  const recoveryMs = recoveryOf(limit)
  const knee = pauseMs > 0 ? KNEE_WITH_PAUSES : 1
  if (usedMs < recoveryMs) return peak * (knee - (knee - FALL) * (1 - usedMs / recoveryMs) ** 3)
  return peak * (1 + FIRST_STEP * 2 ** ((usedMs - recoveryMs) / doublingOf(limit)))
}

function recoveryOf({ peak, pauseMs }: FoundLimit): number {
  const recoveryMs = Math.min(Math.max((CALLS_TO_RECOVER / peak) * 1000, SHORTEST_RECOVERY_MS), LONGEST_RECOVERY_MS)
  return Math.max(recoveryMs, pauseMs * RECOVERY_PER_PAUSE)
}

function doublingOf({ peak, pauseMs, lagMs }: FoundLimit): number {
  return Math.max(DOUBLING_MS, (CALLS_TO_DOUBLE / peak) * 1000, pauseMs * DOUBLING_PER_PAUSE, lagMs)
}

/** Spread evenly, so that no window of a second holds more than the ceiling (nor one of a call, where it is below one a second). */
function ceilingRate(ceiling: number): number {
  if (ceiling <= 0) return Number.POSITIVE_INFINITY
  const calls = Math.max(1, Math.floor(ceiling))
  return calls / (calls / ceiling + MARGIN_MS / 1000)
}
