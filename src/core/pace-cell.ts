import type { Clock } from './clock.ts'

/**
 * Changes what is kept of the pace of calls for all who share it, null at first. `change` gets the time by a clock that
 * they share, in milliseconds since some start, and may be called several times, until no other process was faster.
 */
export type PaceCell = <T extends Paced>(change: Change<T>) => Promise<T>
export type Paced = { readonly pace: unknown }
export type Change<T extends Paced> = (pace: unknown, nowMs: number) => T

/** For this process alone. */
export function createMemoryPaceCell({ now, monotonicMs = now }: Clock): PaceCell {
  let kept: unknown = null
  return async (change) => {
    const changed = change(kept, monotonicMs())
    kept = changed.pace
    return changed
  }
}
