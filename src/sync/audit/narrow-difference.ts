import type { FetchPage } from '../../core/page.ts'
import type { Partition, Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { MINUTE, type WallTime } from '../../core/wall-clock.ts'
import type { CallMeter } from '../slice-work.ts'
import type { Holdings } from './holdings.ts'

/**
 * How many rows the source has before a minute. Whether its filter includes its end is not known, nor always to be told from its
 * answers: then a lower and an upper bound.
 */
export interface Boundary {
  readonly at: WallTime
  readonly fewest: number
  readonly most: number
}

/** A range in which both sides do not hold the same number of rows. */
export interface Suspect {
  readonly window: Window
  /** At the source, at most. */
  readonly sourceRows: number
  /** So many more at the source than in the warehouse, fewer where negative. */
  readonly rows: number
}

/** A range in which neither side has more rows is small enough to be read, and its rows to be named. */
export const SMALL_ROWS = 300
/** Boundaries that are asked for at most; what is left then is named as it is. */
const MOST_BOUNDARIES = 40

/**
 * Names a difference to small ranges: halves what differs, by the rows where the warehouse has any, else by time. A range of which
 * the warehouse holds nothing is named as a whole. What cancels out within a half is not seen. @returns oldest first
 */
export async function narrowDifference(
  from: Boundary,
  to: Boundary,
  column: string,
  { holdings, counts }: { readonly holdings: Holdings; readonly counts: Pick<SourceCounts, 'before'> },
  limits = { smallRows: SMALL_ROWS, mostBoundaries: MOST_BOUNDARIES },
): Promise<readonly Suspect[]> {
  let asked = 0
  const narrow = async (start: Boundary, end: Boundary): Promise<readonly Suspect[]> => {
    const window = { from: start.at, to: end.at }
    const held = (await holdings.count(column, window)).rows
    const rows = differenceOf(start, end, held)
    if (rows === 0) return []
    const sourceRows = end.most - start.fewest
    const suspect = { window, sourceRows, rows }
    const isSmall = sourceRows <= limits.smallRows && held <= limits.smallRows
    if (isSmall || held === 0 || window.to - window.from <= MINUTE || asked >= limits.mostBoundaries) return [suspect]
    const middle = await boundaryBetween(start, end, held)
    if (middle === undefined) return [suspect]
    const [older, newer] = [await narrow(start, middle), await narrow(middle, end)]
    // The lists move: what was different as a whole may be equal in its halves by now.
    return [...older, ...newer]
  }
  const boundaryBetween = async (start: Boundary, end: Boundary, held: number): Promise<Boundary | undefined> => {
    const window = { from: start.at, to: end.at }
    const halfTime = start.at + Math.floor((end.at - start.at) / 2 / MINUTE) * MINUTE
    for (const at of [await holdings.minuteAt(column, window, Math.floor(held / 2)), halfTime]) {
      if (at === undefined || at <= start.at || at >= end.at) continue
      asked++
      const boundary = await counts.before(at, 'earlier')
      if (boundary.at > start.at && boundary.at < end.at) return boundary
    }
    return undefined
  }
  return await narrow(from, to)
}

/** So many rows more at the source, at least; 0 where both may hold the same. */
export function differenceOf(from: Boundary, to: Boundary, held: number): number {
  const fewest = to.fewest - from.most - held
  const most = to.most - from.fewest - held
  if (fewest > 0) return fewest
  return most < 0 ? most : 0
}

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
    const list = { stream, partition, window }
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
