import type { Row } from '../core/column.ts'
import type { Page } from '../core/page.ts'
import type { Window } from '../core/slice.ts'
import { floorToMinute, MINUTE, type WallTime } from '../core/wall-clock.ts'
import { chooseBounds, type PageTimes, SHORTEST_WINDOW } from './choose-bounds.ts'
import { lookIntoList } from './look-into-list.ts'
import { measureBareList, type NumberedPage, servedSize } from './measure-list.ts'
import type { SliceReading } from './open-reading.ts'
import { pagesByText } from './pages-by-text.ts'
import { partOf } from './plan-again.ts'
import { cutWindow, cutWindowAt } from './plan-windows.ts'
import { minuteOf } from './row-window.ts'
import { sliceSize } from './slice-size.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** A part may be so many times as long as others, but is surely shorter than the whole: else the filter was ignored. */
const UNEVEN = 2
const SURELY_LESS = 0.8
/**
 * Looks at page 1 of a window and cuts a large slice into parts of about equally many rows, newest first: pages in between tell
 * where in time they lie, for bare arrays also how many there are. Whatever the list's order, and whatever moves meanwhile, the
 * parts together are the window.
 *
 * @param isTooLong reading it has shown that it is, whatever was expected
 * @returns undefined for one that is small enough, no longer than a few minutes, or whose rows lie too close together
 * @throws LivehouseError `paging.ignored` when a page does not fit the window, or is page 1 again
 */
export async function cutSlice(
  slice: Slice,
  reading: SliceReading,
  deps: RunDeps,
  isTooLong = false,
): Promise<readonly Slice[] | undefined> {
  const { window, stream } = slice
  if (window === undefined || window.to - window.from <= SHORTEST_WINDOW) return undefined
  const first = await reading.firstPage()
  const served = servedSize(reading.pages.pageSize, first)
  const expectedPages = isTooLong ? undefined : slice.expectedPages
  const readRows = () =>
    first.items.flatMap((item) => {
      const read = reading.readItem(item, first)
      return read.kind === 'row' ? [read.row] : []
    })
  const size = sliceSize(stream, served, pagesByText(stream, deps.pagesPerSlice, readRows), expectedPages)
  if (stream.isCounted && pagesOf(first, served) <= size.enough) return undefined

  const looks = lookIntoList(slice, reading, first, deps)
  const known: PageTimes[] = [looks.timesOf({ number: 1, page: first })]
  const onLook = (page: NumberedPage) => void known.push(looks.timesOf(page))
  // Most lists that begin with a short page end there, and a part was measured when it was cut: reading shows where that is wrong.
  const isShort = !isTooLong && (expectedPages !== undefined || first.items.length < reading.pages.pageSize)
  if (!stream.isCounted && isShort) return undefined
  const pages = stream.isCounted
    ? pagesOf(first, served)
    : await measureBareList(reading.pages, first, size.enough, size.most / 3, onLook)
  if (pages === undefined) return undefined

  const parts = size.partsOf(pages)
  const pagesEach = pages / parts
  const targets = Array.from({ length: parts - 1 }, (_, index) => Math.floor((index + 1) * pagesEach) + 1)
  // What is larger than expected may be the whole list, of which the first page happens to fit: then the last one does not.
  const ends = expectedPages === undefined ? [] : [pages]
  const looked = await looks.at([...ends, ...targets])
  const seen = looked.filter(({ times }) => times.length > 0)
  // Where pages far down the list are not served, no more is known than before.
  if (seen.length === 0) return toSlices(slice, cutWindow(window, parts), () => undefined)

  const bounds = chooseBounds(window, inOrder([...known, ...seen]), targets)
  // Where some pages are not served, a part that is longer than others may not be read to its end.
  const areServed = seen.length === ends.length + targets.length
  const turns = seen.filter(({ number }) => targets.includes(number))
  return toSlices(slice, cutWindowAt(window, bounds), (part) => {
    // Without a total, an ignored filter does not show at once where the first page of the whole list would fit; nor does what
    // is long although it is a part: of the pages where parts should begin, more lie in it than those at its ends.
    const isSure = stream.isCounted || (!fits(known[0], part) && turns.filter((page) => fits(page, part)).length <= 2)
    if (!isSure || !areServed || pagesEach > size.longest) return undefined
    return Math.min(pages * SURELY_LESS, pagesEach * UNEVEN)
  })
}

/** From when on the rows of a slice are younger than settle, where others are older: a live list moves there alone. */
export function unsettledFrom({ window, covers }: Slice): WallTime | undefined {
  return window !== undefined && covers !== undefined && covers.to < window.to ? covers.to : undefined
}

/**
 * Cuts a slice that could not be read as it is (a page of it was refused, or it did not come to rest): what is younger than settle
 * apart, else where half of the rows that came lie before, at a whole minute.
 * @returns undefined for one minute
 */
export function halveSlice(
  slice: Slice,
  rows: readonly Row[],
  { timeZone }: Pick<RunDeps, 'timeZone'>,
): readonly Slice[] | undefined {
  const { window, stream } = slice
  if (window === undefined) return undefined
  const times = rows
    .flatMap((row) => minuteOf(row[stream.timeColumns[0] ?? ''], timeZone) ?? [])
    .filter((time) => time >= window.from && time < window.to)
    .sort((a, b) => a - b)
  const middle = times[Math.floor(times.length / 2)] ?? floorToMinute((window.from + window.to) / 2)
  const at = unsettledFrom(slice) ?? Math.max(window.from + MINUTE, Math.min(middle, window.to - MINUTE))
  return toSlices(slice, cutWindowAt(window, [at]), () => undefined)
}

function toSlices(
  slice: Slice,
  windows: readonly Window[],
  expectedPagesOf: (window: Window) => number | undefined,
): readonly Slice[] | undefined {
  if (windows.length < 2) return undefined
  return windows.map((window) => ({ ...partOf(slice, window), expectedPages: expectedPagesOf(window) }))
}

function pagesOf({ total = 0 }: Page, served: number): number {
  return Math.ceil(total / served)
}

/** Whether a page may be one of a window, by most of its rows. */
function fits(page: PageTimes | undefined, { from, to }: Window): boolean {
  const times = page?.times ?? []
  return times.filter((time) => time >= from && time < to).length * 2 >= times.length
}

/** Each page once. */
function inOrder(pages: readonly PageTimes[]): readonly PageTimes[] {
  const byNumber = new Map(pages.map((page) => [page.number, page]))
  return [...byNumber.values()].sort((one, other) => one.number - other.number)
}
