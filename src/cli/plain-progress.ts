import type { Progress } from '../app/context.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'

/** The time between two lines of one stream. */
const QUIET_MS = 300_000

/** Logs progress: a line when a stream starts, when its last slice has ended, and every five minutes in between. */
export function createPlainProgress(log: Log, clock: Clock): Progress {
  const loggedAt = new Map<string, number>()
  return {
    report: (stream, { rows, parts: slices, endedParts: endedSlices }) => {
      const last = loggedAt.get(stream)
      const isOver = slices > 0 && endedSlices === slices
      if (last !== undefined && !isOver && clock.now() - last < QUIET_MS) return
      const name = last === undefined ? 'stream.started' : isOver ? 'stream.ended' : 'stream.progress'
      log.info(name, { stream, rows, slices, endedSlices })
      loggedAt.set(stream, clock.now())
    },
    [Symbol.dispose]: () => {},
  }
}
