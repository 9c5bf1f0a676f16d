import type { Page } from '../core/page.ts'
import { MINUTE, type WallTime } from '../core/wall-clock.ts'
import { type ListLength, measureBareList } from './measure-bare-list.ts'
import type { SliceReading } from './open-reading.ts'
import { describeList, fetchPastEnd } from './page-reading.ts'
import { partOf } from './plan-again.ts'
import { cutWindow, cutWindowAt } from './plan-windows.ts'
import { minuteOf, requireFiltered } from './row-window.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** What is only a little larger than a part should be is not worth a cut: each costs looks, and some rows are read twice. */
const TOLERANCE = 1.2
/** Of a long list whose rows are written as they come, a part may have so many times as many pages, where that makes enough parts. */
const LONG_FACTOR = 3
const LONG_TOLERANCE = 1.5
const ENOUGH_PARTS = 5
/** Pages whose times are looked at before a cut. */
const MOST_LOOKS = 24
/** Where the source gives no total, only one of so many bounds is looked at; those between are taken to lie evenly. */
const BOUNDS_A_LOOK = 4
/** The minutes around a bound are read twice: where a page takes less than this, other pages nearby are looked at too. */
const BUSY_SECONDS = 120

/**
 * Looks at page 1 of a window, and for bare arrays at far pages, and cuts a large slice into parts of about equally many rows,
 * newest first: pages in between tell where in time they lie. Whatever the list's order, the parts together are the window.
 * @returns undefined for one that is small enough, or no longer than a minute
 * @throws LivehouseError `paging.ignored` when page 1 does not fit the window: then no part would be smaller
 */
export async function cutSlice(
  slice: Slice,
  reading: SliceReading,
  { pagesPerSlice, timeZone }: RunDeps,
): Promise<readonly Slice[] | undefined> {
  const { window, stream } = slice
  const { asked, pages, readItem } = reading
  if (window === undefined || asked === undefined) return undefined
  const first = await reading.firstPage()
  if (window.to - window.from <= MINUTE) return undefined
  const isLongPart = slice.isPart === true && stream.identity === undefined
  const enough = Math.floor(pagesPerSlice * (isLongPart ? LONG_FACTOR * LONG_TOLERANCE : TOLERANCE))
  const length = await measure(slice, first, reading, enough)
  if (length === undefined || length.pages <= enough) return undefined

  const rowsOf = (page: Page) =>
    page.items.flatMap((item) => {
      const read = readItem(item, page)
      return read.kind === 'row' ? [read.row] : []
    })
  requireFiltered(describeList(pages.list), stream, rowsOf(first), asked, timeZone)
  const parts = countParts(slice, length.pages, pagesPerSlice)
  const targets = Array.from({ length: parts - 1 }, (_, index) => Math.round(((index + 1) * length.pages) / parts) + 1)
  const look = (page: Page): Look | undefined =>
    lookAt(rowsOf(page).flatMap((row) => minuteOf(row[stream.timeColumns[0] ?? ''], timeZone) ?? []))
  const lookAtPage = async (number: number): Promise<Look | undefined> => {
    const page = await fetchPastEnd(pages, number)
    return page && look(page)
  }
  const times = new Map<number, WallTime>()
  for (const { number, page } of length.looked) times.set(number, look(page)?.quietest ?? window.from)
  await Promise.all(
    thinned(targets, stream.isCounted ? 1 : BOUNDS_A_LOOK).map(async (number) => {
      const looks = [await lookAtPage(number)]
      if (looks[0] && looks[0].span < BUSY_SECONDS && stream.isCounted) {
        const aside = Math.ceil(length.pages / parts / 10)
        looks.push(...(await Promise.all([lookAtPage(Math.max(1, number - aside)), lookAtPage(number + aside)])))
      }
      const [widest] = looks.flatMap((each) => each ?? []).sort((one, other) => other.span - one.span)
      if (widest) times.set(number, widest.quietest)
    }),
  )
  const windows = cutWindowAt(window, boundsAt(targets, times))
  return (windows.length < 2 ? cutWindow(window, parts) : windows).map((part) => ({
    ...partOf(slice, part),
    isPart: true,
  }))
}

/** What the times of a page tell of a cut there. */
interface Look {
  /** Where the least is read twice: behind the longest pause between two rows. */
  readonly quietest: WallTime
  /** How long the page's rows took to come, in seconds. */
  readonly span: number
}

function lookAt(minutes: readonly WallTime[]): Look | undefined {
  const [first] = minutes
  if (first === undefined) return undefined
  let quietest = first
  let longest = -1
  for (const [index, minute] of minutes.entries()) {
    const pause = Math.abs(minute - (minutes[index - 1] ?? minute))
    if (pause <= longest) continue
    longest = pause
    quietest = Math.max(minute, minutes[index - 1] ?? minute)
  }
  return { quietest, span: Math.abs((minutes.at(-1) ?? first) - first) }
}

/** Rows that are held until the slice is proven are bounded by its pages; others are cut for the sake of resuming alone. */
function countParts({ stream }: Slice, pages: number, pagesPerSlice: number): number {
  const parts = Math.ceil(pages / pagesPerSlice)
  // A little more than a part's pages: the length of a bare array is rather told too large.
  if (stream.identity) return Math.ceil(pages / (pagesPerSlice * ((1 + TOLERANCE) / 2)))
  return Math.max(Math.min(parts, ENOUGH_PARTS), Math.ceil(parts / LONG_FACTOR))
}

async function measure(
  { stream }: Slice,
  first: Page,
  { pages }: SliceReading,
  enough: number,
): Promise<ListLength | undefined> {
  if (stream.isCounted) {
    // Where the service clamps the page size, what it sends decides.
    const { total = 0, items } = first
    const size = items.length > 0 && items.length < total ? items.length : stream.pageSize
    return { pages: Math.ceil(total / size), looked: [] }
  }
  return first.items.length < stream.pageSize ? undefined : await measureBareList(pages, first, enough)
}

/** One of `every`, and no more than may be looked at. */
function thinned(numbers: readonly number[], every: number): readonly number[] {
  const step = Math.max(every, Math.ceil(numbers.length / MOST_LOOKS))
  return numbers.filter((_, index) => index % step === step - 1)
}

/**
 * The times at which pages of these numbers begin, from those that are known. In a list that is not in order of time every known
 * one is as good as another.
 */
function boundsAt(numbers: readonly number[], times: ReadonlyMap<number, WallTime>): readonly WallTime[] {
  const known = [...times].sort(([a], [b]) => a - b)
  const steps = known.slice(1).map(([, time], index) => time - (known[index]?.[1] ?? time))
  const isOrdered = steps.every((step) => step >= 0) || steps.every((step) => step <= 0)
  if (!isOrdered) return known.map(([, time]) => time)
  return numbers.flatMap((number) => {
    const after = known.findIndex(([each]) => each >= number)
    const [to, toTime] = known[after] ?? []
    const [from, fromTime] = known[after - 1] ?? []
    if (to === undefined || toTime === undefined) return []
    if (to === number || from === undefined || fromTime === undefined) return [toTime]
    const time = fromTime + ((toTime - fromTime) * (number - from)) / (to - from)
    return [Math.round(time / MINUTE) * MINUTE]
  })
}
