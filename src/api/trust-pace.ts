import type { CallPace } from './call-pace.ts'
import { callRate } from './call-rate.ts'
import { LONGEST_PAUSE_MS } from './learn-pace.ts'

export interface TrustOptions {
  readonly nowMs: number
  /** Nobody takes leave for a call that is further ahead. */
  readonly aheadMs: number
  /** 0 for none. */
  readonly ceiling: number
}

/**
 * What is kept, without what nobody with a right clock can have written: one clock that was ahead, or the database's that has
 * gone back, would else stop all who share the pace until that instant. What can have been granted is still honoured, so that
 * the ceiling holds. @returns the same object where nothing is wrong with it
 */
export function trustPace(pace: CallPace, { nowMs, aheadMs, ceiling }: TrustOptions): CallPace {
  const latestMs = nowMs + aheadMs
  const nextAtMs = Math.min(pace.nextAtMs, latestMs + 1000 / callRate(pace, ceiling))
  const pausedUntilMs = pace.pausedUntilMs > latestMs + LONGEST_PAUSE_MS ? nowMs + LONGEST_PAUSE_MS : pace.pausedUntilMs
  const sinceMs = pace.sinceMs > latestMs ? nowMs : pace.sinceMs
  // Else every refusal would count as one that was under way when the last was found.
  const limit = pace.limit && pace.limit.foundAtMs > latestMs ? { ...pace.limit, foundAtMs: nowMs } : pace.limit
  const known = pace.admissions.filter(({ atMs }) => atMs <= latestMs)
  const admissions = known.length === pace.admissions.length ? pace.admissions : known
  const trusted = { ...pace, sinceMs, nextAtMs, pausedUntilMs, admissions, ...(limit && { limit }) }
  const isSame =
    nextAtMs === pace.nextAtMs &&
    pausedUntilMs === pace.pausedUntilMs &&
    sinceMs === pace.sinceMs &&
    limit === pace.limit &&
    admissions === pace.admissions
  return isSame ? pace : trusted
}
