import type { JobRange } from '../../core/define-job.ts'
import type { Window } from '../../core/slice.ts'
import { DAY, parseWallTime, type WallTime } from '../../core/wall-clock.ts'

/** The range of a job on the service's wall clock: from the beginning of history and to the end of today where it names no day. */
export function rangeWindow(range: JobRange, historyFrom: WallTime, now: WallTime): Window {
  const tomorrow = (Math.floor(now / DAY) + 1) * DAY
  if ('lastDays' in range) return { from: tomorrow - range.lastDays * DAY, to: tomorrow }
  const { from, to } = range
  return {
    from: from === undefined ? historyFrom : (parseWallTime(from) ?? historyFrom),
    to: to === undefined ? tomorrow : Math.min(tomorrow, parseWallTime(to) ?? tomorrow),
  }
}
