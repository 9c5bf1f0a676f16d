import { isSameJson } from '../core/is-same-json.ts'
import type { Page } from '../core/page.ts'
import { fetchUnlessRefused, type PageReading, pageIgnored, type RefusedPage } from './page-reading.ts'

/** A page of another size that begins among the rows that have come, and reaches beyond the last of them. */
interface Place {
  readonly number: number
  readonly pageSize: number
  /** Of the rows that have come, so many lie in it. */
  readonly known: number
}

/** No list has so many pages. */
const BEYOND_ANY_END = 1_000_000

/**
 * Asks for the place behind the last row at another page size. A service that repeats its last page past the end, or refuses what
 * lies there, then serves the last row and none behind it; where equal rows fill two pages, or a page was refused for another
 * reason, more rows come.
 * @param pages at least one, of at least one item
 * @returns `unknown` where what came is neither: the list moved, or no page size reaches beyond its last row
 * @throws LivehouseError `paging.ignored` where the first rows come again whatever is asked for, `api.…` of the call
 */
export async function lookBehind(
  reading: PageReading,
  pages: readonly Page[],
): Promise<'nothing' | 'more' | 'unknown' | RefusedPage> {
  const place = placeAcross(pages)
  if (place === undefined) return 'unknown'
  const page = await fetchUnlessRefused({ ...reading, pageSize: place.pageSize }, place.number)
  if ('refusal' in page) return page
  const { items } = page
  const rows = pages.flatMap((each) => each.items)
  const known = rows.slice(-place.known)
  if (items.length > known.length && isSameJson(items.slice(0, known.length), known)) {
    if (pages.length === 1) await requireHeeded(reading, place, page)
    return 'more'
  }
  const isEnd = items.length > 0 && items.length <= place.pageSize && isSameJson(items, rows.slice(-items.length))
  if (isEnd) return 'nothing'
  const isAgain = items.length >= place.pageSize && isSameJson(items, rows.slice(0, items.length))
  if (isAgain) throw pageIgnored(reading, page, place.number)
  return 'unknown'
}

/**
 * Of the sizes that are smaller than what the service serves, the one that shows most of what lies behind. Pages of few rows may
 * have none: then one that is a little larger.
 */
function placeAcross(pages: readonly Page[]): Place | undefined {
  const size = Math.max(...pages.map(({ items }) => items.length))
  const end = (pages.length - 1) * size + (pages.at(-1)?.items.length ?? 0)
  const behind = ({ pageSize, known }: Place) => pageSize - known
  const best = (sizes: readonly number[]): Place | undefined => {
    const places = sizes.map((pageSize) => {
      const number = Math.ceil(end / pageSize)
      return { number, pageSize, known: end - (number - 1) * pageSize }
    })
    return places.filter((place) => behind(place) > 0).sort((a, b) => behind(b) - behind(a))[0]
  }
  const smaller = Array.from({ length: size - 1 }, (_, index) => size - 1 - index)
  return best(smaller) ?? best([1, 2, 3, 4].map((more) => size + more))
}

/** Equal rows could also be the first page over and over: then a page beyond any end is full of them too. */
async function requireHeeded(reading: PageReading, { pageSize }: Place, page: Page): Promise<void> {
  const far = await fetchUnlessRefused({ ...reading, pageSize }, BEYOND_ANY_END)
  if ('refusal' in far || far.items.length < pageSize || !isSameJson(far.items, page.items)) return
  throw pageIgnored(reading, far, BEYOND_ANY_END)
}
