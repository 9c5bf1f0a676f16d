import type { Window } from '../core/slice.ts'
import { floorToMinute, type WallTime } from '../core/wall-clock.ts'

/** What a search engine counts to at most, and shows nothing behind, is so many or a multiple of it: mostly 10,000. */
const ROUND = 1000

/**
 * Where a window is to be cut whose total is no count but the most that the service counts to. A round total may be
 * one: then both halves are counted, and of the half that has as many its halves, until they have more together, which
 * shows the limit, or fewer each.
 * @param countOf the service's total of a part, asked for as it is
 * @returns undefined where the total is true, or all rows lie within `shortest` seconds
 */
export async function boundWithin(
  { from, to }: Window,
  { total, shortest, countOf }: { total: number; shortest: number; countOf: (part: Window) => Promise<number> },
): Promise<WallTime | undefined> {
  if (total === 0 || total % ROUND !== 0 || to - from <= shortest) return undefined
  const middle = floorToMinute((from + to) / 2)
  const [older, newer] = [
    // Where the service counts what lies at both ends, a row is in one of them.
    { from, to: middle - 1 },
    { from: middle, to },
  ]
  const [ofOlder, ofNewer] = await Promise.all([countOf(older), countOf(newer)])
  if (ofOlder + ofNewer > total) return middle
  const whole = ofNewer === total ? newer : ofOlder === total ? older : undefined
  return whole && (await boundWithin(whole, { total, shortest, countOf }))
}
