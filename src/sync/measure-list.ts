import { isSameJson } from '../core/is-same-json.ts'
import type { Page } from '../core/page.ts'
import { fetchIfServed, fetchPastEnd, type PageReading } from './page-reading.ts'

/** No list has so many pages: a service that has an answer to every number is asked no farther. */
const MOST_PAGES = 1_000_000

/** A page and its number from 1. */
export interface NumberedPage {
  readonly number: number
  readonly page: Page
}

/** Rows of a page as the service serves it: a page that is not full although more is announced, or known to come, shows it. */
export function servedSize(pageSize: number, { items, total = Infinity }: Page): number {
  return items.length > 0 && items.length < Math.min(pageSize, total) ? items.length : pageSize
}

/**
 * Looks for the end of a bare array (API 4.12), which tells no total: twice as far each time, then between the last page that is
 * there and the first that is not, until the end is known to `exactness` pages.
 * @param onLook is given each page that is there, before the next is asked for
 * @returns about how many pages there are; undefined where there are no more than `enough`
 */
export async function measureBareList(
  reading: PageReading,
  first: Page,
  enough: number,
  exactness: number,
  onLook: (page: NumberedPage) => void,
): Promise<number | undefined> {
  const far = await fetchPastEnd(reading, enough + 1)
  if (far === undefined || far.items.length === 0) return undefined
  onLook({ number: enough + 1, page: far })
  // Past the end some services give the last page again: then the far page says nothing.
  const farther = await fetchPastEnd(reading, enough + 2)
  if (farther !== undefined && isSameJson(farther.items, far.items)) return undefined

  const there: NumberedPage[] = [
    { number: 1, page: first },
    { number: enough + 1, page: far },
  ]
  let end: number | undefined
  let tail: Page | undefined
  for (
    let last = enough + 1;
    end === undefined || end - last > Math.max(1, exactness);
    last = there.at(-1)?.number ?? last
  ) {
    const number: number = end === undefined ? last * 2 : Math.floor((last + end) / 2)
    const page = await fetchIfServed(reading, number)
    const isTail = page !== undefined && tail !== undefined && isSameJson(page.items, tail.items)
    if (page === undefined || page.items.length === 0 || isTail || number > MOST_PAGES) {
      end = number
    } else if (there.length > 2 && isSameJson(page.items, there.at(-1)?.page.items)) {
      // Both lie past the end, where the last page comes again and again.
      tail = page
      end = there.pop()?.number ?? number
    } else {
      there.push({ number, page })
      onLook({ number, page })
    }
  }
  return end
}
