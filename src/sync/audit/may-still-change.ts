import type { Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { DAY, wallTimeAt } from '../../core/wall-clock.ts'
import type { RunDeps } from '../slice-work.ts'

/** Whether rows of this range may change by themselves: it lies, or ends, within the lookback of their stream. */
export function mayStillChange(
  { stream, window }: { readonly stream: Stream; readonly window: Window | undefined },
  { clock, timeZone }: Pick<RunDeps, 'clock' | 'timeZone'>,
): boolean {
  return window === undefined || window.to > wallTimeAt(clock.now(), timeZone) - stream.lookbackDays * DAY
}
