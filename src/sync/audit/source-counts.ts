import type { FetchPage } from '../../core/page.ts'
import type { Partition, Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { MINUTE, type WallTime } from '../../core/wall-clock.ts'
import type { CallMeter } from '../call-meter.ts'
import type { Boundary } from './narrow-difference.ts'

/** What the source says how many rows it has; one call each, of one row. */
export interface SourceCounts {
  /** Between two seconds, which may or may not belong to it; undefined where the source tells no total. */
  readonly total: (window: Window | undefined) => Promise<number | undefined>
  /** From the beginning to a whole minute, or to one shortly beside it where the count is exact. Two calls or a few. */
  readonly before: (at: WallTime, beside: 'earlier' | 'later') => Promise<Boundary>
}

/** Minutes beside the one asked for that are tried too. */
const MOST_SHIFTS = 3

/**
 * Counts at the source. Every range that is asked for begins at `begin`, before anything that counts: then it is the same whether
 * the service looks at the rows that lie in a range, begin in it, end in it or touch it, but for which time is held against the end.
 */
export function openSourceCounts(
  stream: Stream,
  partition: Partition,
  begin: WallTime,
  deps: { readonly fetchPage: FetchPage; readonly signal: AbortSignal },
  meter: CallMeter,
): SourceCounts {
  const total = async (window: Window | undefined) => {
    const list = stream.request(partition, window)
    const context = { signal: deps.signal, onAttempt: meter.onAttempt }
    return (await deps.fetchPage({ list, page: 1, pageSize: 1 }, context)).total
  }
  /** With the end in the range or not, all before the minute have been counted up to its first second, and none after it up to the last one before. */
  const boundaryAt = async (at: WallTime): Promise<Boundary> => {
    const [fewest = 0, most = 0] = [await total({ from: begin, to: at - 1 }), await total({ from: begin, to: at })]
    return { at, fewest, most }
  }
  return {
    total,
    before: async (at, beside) => {
      if (at <= begin) return { at, fewest: 0, most: 0 }
      const asked = await boundaryAt(at)
      let boundary = asked
      for (let shift = 1; shift <= MOST_SHIFTS && boundary.fewest < boundary.most; shift++) {
        const next = at + (beside === 'later' ? shift : -shift) * MINUTE
        if (next <= begin) break
        boundary = await boundaryAt(next)
      }
      return boundary.fewest < boundary.most ? asked : boundary
    },
  }
}
