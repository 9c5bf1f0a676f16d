import type { Row } from '../core/column.ts'
import type { Window } from '../core/slice.ts'
import { DAY, floorToMinute, MINUTE } from '../core/wall-clock.ts'
import { latestHeld } from '../store/load/table-part.ts'
import { APART, mayBeLimit, rowsOf, SHORTEST_WINDOW, toSlices } from './cut-slice.ts'
import { askedOf, FEWEST_ROWS, fetchUnlessRefused, type SliceReading } from './page-reading.ts'
import type { RunDeps, Slice } from './slice-work.ts'
import { cutWindowAt, minuteOf } from './windows.ts'

/** What is no longer is not doubted, unless it is a part of what was shortened. */
const LONG_RANGE = 31 * DAY

/**
 * Cuts a range of which the service may have served only a part: where it is long, or as many rows came as may be the
 * most that are shown, what lies before the earliest of them is asked for by itself, and in the second case what lies
 * behind the latest too. A row in there did not come with the others: each part is then read, asked about in the same
 * way. A refusal says nothing, nor do rows outside of what was asked.
 * @param came rows of the window or not, and how many items
 * @returns undefined where nothing more is shown
 */
export async function cutShortened(
  slice: Slice,
  came: { readonly rows: readonly Row[]; readonly received: number },
  { pages, readItem }: SliceReading,
  { db, timeZone }: Pick<RunDeps, 'db' | 'timeZone'>,
): Promise<readonly Slice[] | undefined> {
  const { window, stream, covers, isShortened = false } = slice
  if (window === undefined) return undefined
  // Where there is a total, it tells whether a round number is all there is.
  const isLimited = !stream.isCounted && mayBeLimit(came.received)
  if (!isShortened && !isLimited && window.to - window.from <= LONG_RANGE) return undefined
  const minutesIn = (rows: readonly Row[], { from, to }: Window) =>
    rows
      .flatMap((row) => minuteOf(row[stream.timeColumns[0] ?? ''], timeZone) ?? [])
      .filter((at) => at >= from && at < to)
  const minutes = minutesIn(came.rows, window)
  const earliest = minutes.reduce((least, at) => Math.min(least, at), window.to)
  const latest = minutes.reduce((most, at) => Math.max(most, at), window.from)
  // Beyond a time without rows that is longer than what is served, only what came before shows where to ask.
  const heldAt = await latestHeld(db, { ...slice, window: { from: window.from, to: earliest }, timeZone })
  const known = { from: window.from, to: heldAt === undefined ? window.from : floorToMinute(heldAt) + MINUTE }
  if (minutes.length === 0 && heldAt === undefined) return undefined
  const { to } = covers ?? window
  // The minute in which the answer ended may have come in part: it is read with what did not come.
  const before = { unseen: { from: window.from, to: earliest }, asked: { from: window.from, to: earliest - APART } }
  const behind = { unseen: { from: latest + MINUTE, to }, asked: { from: latest + APART, to } }
  const sides = [
    { unseen: known, asked: known, at: known.to },
    { ...before, at: Math.min(earliest + MINUTE, window.to - MINUTE) },
    ...(isLimited ? [{ ...behind, at: Math.max(latest, window.from + MINUTE) }] : []),
  ]
  for (const { unseen, asked, at } of sides) {
    if (asked.to - asked.from <= SHORTEST_WINDOW) continue
    const list = { ...pages.list, window: askedOf({ window: asked }) }
    const page = await fetchUnlessRefused({ ...pages, pageSize: FEWEST_ROWS, list }, 1)
    if ('refusal' in page || minutesIn(rowsOf(page, readItem), unseen).length === 0) continue
    return toSlices({ ...slice, isShortened: true }, cutWindowAt(window, [at]))
  }
  return undefined
}
