import type { Clock } from '../core/clock.ts'
import { formatWallDate, wallTimeAt } from '../core/wall-clock.ts'

/** @returns whether one more call may pass: a bucket that holds one second's calls. Without a rate every call may. */
export function createRateLimit(callsPerSecond: number | undefined, clock: Clock): () => boolean {
  if (callsPerSecond === undefined) return () => true
  const capacity = Math.max(1, callsPerSecond)
  let tokens = capacity
  let filledAt = clock.now()
  return () => {
    const now = clock.now()
    tokens = Math.min(capacity, tokens + ((now - filledAt) / 1000) * callsPerSecond)
    filledAt = now
    if (tokens < 1) return false
    tokens -= 1
    return true
  }
}

/** @returns whether `scope` has a call left on this day of the service's zone; each question takes one (API 4.6, section 8). */
export function createDayBudget(callsPerDay: number, clock: Clock, timeZone: string): (scope: string) => boolean {
  const used = new Map<string, number>()
  return (scope) => {
    const key = `${formatWallDate(wallTimeAt(clock.now(), timeZone))}/${scope}`
    const before = used.get(key) ?? 0
    if (before >= callsPerDay) return false
    used.set(key, before + 1)
    return true
  }
}
