import type { Clock } from '../core/clock.ts'
import { type CallPace, parseCallPace } from './call-pace.ts'

/** Keeps the pace of calls for all who share it, and tells the time by a clock that they share. */
export interface PaceCell {
  /** Changes what is kept; `change` may be called several times, until nobody else was faster. */
  readonly exchange: <T extends { readonly pace: CallPace }>(
    change: (pace: CallPace | undefined, nowMs: number) => T,
  ) => Promise<T>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The same for whatever is kept, by someone who does not know what it means. */
export interface SharedPace {
  readonly exchange: <T extends { readonly pace: unknown }>(change: (pace: unknown, nowMs: number) => T) => Promise<T>
  readonly now: () => number
}

/** For several processes. */
export function createPaceCell(shared: SharedPace): PaceCell {
  return {
    exchange: (change) => shared.exchange((pace, nowMs) => change(parseCallPace(pace), nowMs)),
    now: shared.now,
  }
}

/** For this process alone. */
export function createMemoryPaceCell(clock: Clock): PaceCell {
  let kept: CallPace | undefined
  return {
    exchange: async (change) => {
      const changed = change(kept, clock.now())
      kept = changed.pace
      return changed
    },
    now: clock.now,
  }
}
