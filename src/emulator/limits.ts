import type { Clock } from '../core/clock.ts'
import { formatWallDate, wallTimeAt } from '../core/wall-clock.ts'
import type { Conditions } from './conditions.ts'

/** @returns whether one more call may pass: a bucket that holds one second's calls. Without a rate every call may. */
export function createRateLimit(conditions: Readonly<Pick<Conditions, 'callsPerSecond'>>, clock: Clock): () => boolean {
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
