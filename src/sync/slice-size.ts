import type { Stream } from '../core/stream.ts'

/** How long slices of a list may be, in pages as the service serves them. */
export interface SliceSize {
  /** A list of no more pages is read as it is: each cut costs calls, and some rows are read twice. */
  readonly enough: number
  /** Rows that are held until their slice is proven come from no more pages than this, unless no cut makes them fewer. */
  readonly most: number
  /** A part of no more pages is not meant to be cut again. */
  readonly longest: number
  /** Into how many parts a list of so many pages is cut. */
  readonly partsOf: (pages: number) => number
}

/** What is only a little too large is not worth a cut. */
const TOLERANCE = 1.2
/** A part may be a little larger than it was meant to be, but not be read on when it is much larger. */
const PART_TOLERANCE = 1.1
const MOST_FACTOR = 1.5
/** A page of fewer rows shows no pause between them to cut at: many such pages are one. */
const FEWEST_ROWS = 3
/** Rows of the largest page that there is: where pages are smaller, more of them may be held, but not more than twice as many. */
const LARGEST_PAGE = 100
const SMALL_FACTOR = 2
/** Of long lists with a total only a few are read at once: each may hold more. */
const COUNTED_FACTOR = 2
/** Rows that are written as they come are cut for the sake of resuming: where that makes enough parts, they may be longer. */
const LONG_FACTOR = 3
const ENOUGH_PARTS = 5
/** More at once would take looks at too many deep pages: such a list is cut into parts that are cut again. */
const MOST_PARTS = 24

/**
 * How long the slices of a stream may be.
 * @param size rows of a page as the service serves it
 * @param expectedPages no more were expected of a part when it was cut out of a larger slice
 */
export function sliceSize(
  { identity, isCounted }: Pick<Stream, 'identity' | 'isCounted'>,
  size: number,
  pagesPerSlice: number,
  expectedPages = 0,
): SliceSize {
  const shallow = pagesPerSlice * Math.max(1, FEWEST_ROWS / size)
  const held = shallow * Math.min(SMALL_FACTOR, Math.max(1, LARGEST_PAGE / size)) * (isCounted ? COUNTED_FACTOR : 1)
  const isHeld = identity !== undefined
  const partsOf = (pages: number) => {
    if (isHeld) return Math.ceil(pages / (held * PART_TOLERANCE))
    const parts = Math.ceil(pages / shallow)
    return Math.max(Math.min(parts, ENOUGH_PARTS), Math.ceil(parts / LONG_FACTOR))
  }
  const enough = (isHeld ? held : shallow) * TOLERANCE
  return {
    enough: Math.max(1, Math.floor(isHeld ? enough : Math.max(enough, expectedPages))),
    most: isHeld ? Math.ceil(held * MOST_FACTOR) : Infinity,
    longest: isHeld ? enough : shallow * LONG_FACTOR * TOLERANCE,
    partsOf: (pages) => {
      const parts = partsOf(pages)
      const most = Math.min(MOST_PARTS, pages)
      return parts <= MOST_PARTS ? Math.min(most, parts) : Math.min(most, Math.ceil(parts / MOST_PARTS))
    },
  }
}
