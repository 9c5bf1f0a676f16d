import { isSameJson } from '../core/is-same-json.ts'
import type { Page } from '../core/page.ts'
import type { PageTimes } from './choose-bounds.ts'
import type { NumberedPage } from './measure-list.ts'
import type { SliceReading } from './open-reading.ts'
import { describeList, fetchIfServed, pageIgnored } from './page-reading.ts'
import { requireFiltered, secondOf } from './row-window.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** Looks at pages of a list beside page 1, to see when their rows came to be. Their rows go nowhere. */
export interface ListLooks {
  /** @throws LivehouseError `paging.ignored` when most rows of the page lie outside of what was asked */
  readonly timesOf: (page: NumberedPage) => PageTimes
  /**
   * The pages of these numbers, those that are served.
   * @throws LivehouseError `paging.ignored`, also when a page is page 1 again
   */
  readonly at: (numbers: readonly number[]) => Promise<readonly PageTimes[]>
}

export function lookIntoList(
  { stream }: Slice,
  { pages, readItem, asked }: SliceReading,
  first: Page,
  { timeZone }: Pick<RunDeps, 'timeZone'>,
): ListLooks {
  const [timeColumn = ''] = stream.timeColumns

  const timesOf = ({ number, page }: NumberedPage): PageTimes => {
    const rows = page.items.flatMap((item) => {
      const read = readItem(item, page)
      return read.kind === 'row' ? [read.row] : []
    })
    if (asked) requireFiltered(describeList(pages.list), stream, rows, asked, timeZone)
    return { number, times: rows.flatMap((row) => secondOf(row[timeColumn], timeZone) ?? []) }
  }
  /** Whether a page within the announced total is page 1 again. */
  const isFirst = (page: Page | undefined): page is Page =>
    page?.total !== undefined &&
    page.total === first.total &&
    page.items.length > 0 &&
    isSameJson(page.items, first.items)
  const look = async (number: number): Promise<readonly PageTimes[]> => {
    const page = await fetchIfServed(pages, number)
    if (!isFirst(page)) return page === undefined ? [] : [timesOf({ number, page })]
    // It may be the fault of one answer.
    const again = await fetchIfServed(pages, number)
    if (isFirst(again)) throw pageIgnored(pages, again, number)
    return again === undefined ? [] : [timesOf({ number, page: again })]
  }
  return {
    timesOf,
    at: async ([one, ...rest]) => {
      if (one === undefined) return []
      // One alone: where parameters are ignored it shows, and no more calls are made.
      const looked = await look(one)
      // All have ended before the first error is thrown: none is still asked for then.
      const looks = await Promise.allSettled(rest.map(look))
      const others = looks.flatMap((each) => {
        if (each.status === 'rejected') throw each.reason
        return each.value
      })
      return [...looked, ...others]
    },
  }
}
