import type { Clock } from './clock.ts'

/** Keeps what is known of the pace of calls for all who share it, and tells the time by a clock that they share. */
export interface PaceCell {
  /** Changes what is kept, null at first; `change` may be called several times, until no other process was faster. */
  readonly exchange: <T extends { readonly pace: unknown }>(change: (pace: unknown, nowMs: number) => T) => Promise<T>
  /** Milliseconds since 1970, or some other start. */
  readonly now: () => number
}

/** For this process alone. */
export function createMemoryPaceCell({ now, monotonicMs = now }: Clock): PaceCell {
  let kept: unknown = null
  const exchange: PaceCell['exchange'] = async (change) => {
    const changed = change(kept, monotonicMs())
    kept = changed.pace
    return changed
  }
  return { exchange, now: monotonicMs }
}
