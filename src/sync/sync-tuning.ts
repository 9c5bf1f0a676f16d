import type { PerStream } from '../core/define-job.ts'
import type { Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { DAY, type WallTime } from '../core/wall-clock.ts'

/** What a job changes of what a sync reads. */
export interface SyncTuning {
  readonly lookbackDays?: PerStream | undefined
  readonly settleMinutes?: PerStream | undefined
  /** Days within which all of the history is read again. */
  readonly rereadDays?: number | undefined
}

/** How old rows of a stream must be to be covered; undefined for what holds everywhere. */
export function settleSecondsOf({ name }: Stream, tuning: SyncTuning | undefined): number | undefined {
  const minutes = tuning?.settleMinutes?.[name]
  return minutes === undefined ? undefined : minutes * 60
}

/**
 * The parts of a window that are read again today, covered or not, so that within `days` days all of it is. They are blocks of
 * whole days that do not move while the history grows: few and long, so that each costs few calls.
 */
export function rereadParts(window: Window, now: WallTime, days: number): readonly Window[] {
  const today = Math.floor(now / DAY)
  const first = Math.floor(window.from / DAY)
  const block = 2 ** Math.floor(Math.log2(Math.max(1, (today - first + 1) / days)))
  const parts: Window[] = []
  for (let number = Math.floor(first / block); number * block <= today; number++) {
    if (number % days !== today % days) continue
    const part = { from: number * block * DAY, to: (number + 1) * block * DAY }
    const clipped = { from: Math.max(part.from, window.from), to: Math.min(part.to, window.to) }
    if (clipped.from < clipped.to) parts.push(clipped)
  }
  return parts
}
