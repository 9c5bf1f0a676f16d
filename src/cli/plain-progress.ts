import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { StreamName } from '../core/stream.ts'
import type { Progress } from '../app/context.ts'
import { createProgressTally, isOver } from '../sync/progress-tally.ts'

/** Between two lines of one stream. */
const QUIET_MS = 30_000

/** Progress as log lines: one when a stream starts, one when its last slice has ended, one every half minute between. */
export function createPlainProgress(log: Log, clock: Clock): Progress {
  const tally = createProgressTally()
  const loggedAt = new Map<StreamName, number>()
  return {
    report: (event) => {
      const before = tally.of(event.stream)
      const state = tally.add(event)
      const { rows, pages, totalPages, slices, endedSlices } = state
      const facts = { stream: event.stream, rows, pages, totalPages: totalPages ?? null, slices, endedSlices }
      if (before === undefined) log.info('stream.started', { stream: event.stream, slices })
      else if (event.kind === 'slice.ended' && isOver(state)) log.info('stream.ended', facts)
      else if (clock.now() - (loggedAt.get(event.stream) ?? 0) >= QUIET_MS) log.info('stream.progress', facts)
      else return
      loggedAt.set(event.stream, clock.now())
    },
    [Symbol.dispose]: () => {},
  }
}
