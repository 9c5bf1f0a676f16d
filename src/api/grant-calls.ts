import type { CallPace } from './call-pace.ts'
import { callRate } from './call-rate.ts'

/** Of what there is: the rest is for others, who ask later. */
const SHARE = 0.6

export interface GrantOptions {
  /** 0 for none. */
  readonly ceiling: number
  readonly wanted: number
  readonly fromMs: number
  /** Nothing further ahead: it would leave at a rate that is known to be wrong by then; */
  readonly untilMs: number
  /** but for one call of who has waited for long. */
  readonly firstUntilMs: number
}

/** Grants up to `wanted` calls, each with the instant at which it may leave. Only where something limits them. */
export function grantCalls(
  pace: CallPace,
  { ceiling, wanted, fromMs, untilMs, firstUntilMs }: GrantOptions,
): { readonly pace: CallPace; readonly slots: readonly number[] } {
  const firstMs = Math.max(pace.nextAtMs, pace.pausedUntilMs, fromMs)
  if (wanted <= 0 || firstMs > firstUntilMs) return { pace, slots: [] }
  const intervalMs = 1000 / callRate(pace, ceiling)
  const inTime = Math.floor((untilMs - firstMs) / intervalMs) + 1
  const count = Math.max(1, Math.min(wanted, Math.ceil(inTime * SHARE)))
  const slots = Array.from({ length: count }, (_slot, index) => firstMs + index * intervalMs)
  return { pace: { ...pace, nextAtMs: firstMs + count * intervalMs }, slots }
}
