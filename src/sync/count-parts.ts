import type { Window } from '../core/slice.ts'
import { MINUTE } from '../core/wall-clock.ts'
import { fetchNumbered, type PageReading } from './page-reading.ts'
import type { Slice } from './slice-work.ts'

/**
 * Whether the parts of a window show all that it shows together. A row with two times may be shown only where both lie
 * in the range: those across a cut would be in no part.
 * @param total that of the window
 */
export async function addUp(parts: readonly Slice[], total: number, pages: PageReading): Promise<boolean> {
  const { stream, window } = pages.list
  if (window === undefined || !stream.isCounted || stream.timeColumns.length < 2) return true
  // Within a minute, where no time of a row lies that is told to the minute. They overlap by as little as no service
  // leaves out, whichever of its ends belong to a range.
  const cuts = parts.flatMap((part) => (part.window ? [part.window.to + MINUTE / 2] : [])).sort((a, b) => a - b)
  const ends = [...cuts.slice(0, -1), window.to]
  const counts = await Promise.all(
    ends.map(
      async (to, index) => await countIn({ from: index === 0 ? window.from : (ends[index - 1] ?? 0) - 1, to }, pages),
    ),
  )
  // What has left the range since is in no part.
  const now = await countIn(window, pages)
  return counts.reduce((sum, count) => sum + count, 0) >= Math.min(total, now)
}

/** The service's total of a range, asked for as it is. */
export async function countIn(window: Window | undefined, pages: PageReading): Promise<number> {
  const list = { stream: pages.list.stream, partition: pages.list.partition, window }
  return (await fetchNumbered({ ...pages, pageSize: 1, list }, 1)).total ?? 0
}
