import { isSameJson } from '../core/is-same-json.ts'
import type { Page } from '../core/page.ts'
import { fetchPastEnd, type PageReading } from './page-reading.ts'

export interface NumberedPage {
  readonly number: number
  readonly page: Page
}

/** How long a list is that tells no total, and the pages that were looked at to find out. */
export interface ListLength {
  /** At least so many pages as there are, and not many more. */
  readonly pages: number
  readonly looked: readonly NumberedPage[]
}

/** So exactly, as a share of what is there, the end is found. */
const EXACTNESS = 0.25

/**
 * Looks for the end of a bare array (API 4.12): twice as far each time, then between the last page that is there and the first
 * that is not. @returns undefined where the list has no more pages than `enough`
 */
export async function measureBareList(
  reading: PageReading,
  first: Page,
  enough: number,
): Promise<ListLength | undefined> {
  const far = await lookAt(reading, enough + 1)
  if (far === undefined) return undefined
  // Past the end some services give the last page again: then the far page says nothing.
  const farther = await lookAt(reading, enough + 2)
  if (farther !== undefined && isSameJson(farther.page.items, far.page.items)) return undefined

  const looked: NumberedPage[] = [{ number: 1, page: first }, far]
  let last = far
  let end: number | undefined
  while (end === undefined || end - last.number > EXACTNESS * last.number) {
    const number: number = end === undefined ? last.number * 2 : Math.floor((last.number + end) / 2)
    const next = await lookAt(reading, number)
    if (next === undefined || isSameJson(next.page.items, last.page.items)) end = number
    else {
      last = next
      looked.push(next)
    }
  }
  return { pages: end, looked }
}

/** A page that has items; undefined past the end. */
async function lookAt(reading: PageReading, number: number): Promise<NumberedPage | undefined> {
  const page = await fetchPastEnd(reading, number)
  return page === undefined || page.items.length === 0 ? undefined : { number, page }
}
