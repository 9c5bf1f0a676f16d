import { refusals, refuse, type Answer, type ErrorFamily, type ListBody } from './answer.ts'
import type { ListQuery } from './endpoint.ts'
import type { Selection } from './select-rows.ts'
import type { Switches } from './switches.ts'

interface PageParts<Item> {
  readonly family: ErrorFamily
  readonly selection: Selection<Item>
  readonly switches: Readonly<Switches>
  readonly toWire: (row: Item) => unknown
  /** The page that is named in the envelope is `echo.page`. */
  readonly envelope: (items: readonly unknown[], total: number, echo: Echo) => unknown
  /** What the rows depend on besides the query and the switches. */
  readonly cacheKey: string
}

export interface Echo {
  readonly page: number
  readonly pageSize: number
}

/** Cuts the page out of a selection; beyond the last one the switch decides. */
export function servePage<Item>(query: ListQuery, parts: PageParts<Item>): ListBody | Answer {
  const { selection, switches, family } = parts
  const { pageSize } = query
  const lastPage = Math.max(1, Math.ceil(selection.count / pageSize))
  const isBeyond = query.page > lastPage
  if (isBeyond && switches.beyondLastPage === 'error') {
    return refuse(family, refusals.invalid('page'), switches.errcodeStatus)
  }
  const repeatsLast = isBeyond && switches.beyondLastPage === 'repeat-last'
  const page = repeatsLast ? lastPage : query.page
  const echo: Echo = { page: repeatsLast ? lastPage : query.echoPage, pageSize: query.echoPageSize }
  const start = (page - 1) * pageSize
  const end = Math.min(selection.count, start + pageSize)
  return {
    kind: 'list',
    items: () => (start < end ? selection.slice(start, end).map((row) => parts.toWire(row)) : []),
    total: selection.count,
    envelope: (items, total) => parts.envelope(items, total, echo),
    cacheKey: `${parts.cacheKey}|${JSON.stringify(query)}|${JSON.stringify(switches)}`,
  }
}

/** The list as the envelope carries it: an empty one may be null or missing. */
export function listField(name: string, items: readonly unknown[], { emptyLists }: Readonly<Switches>): object {
  if (items.length > 0 || emptyLists === 'array') return { [name]: items }
  return emptyLists === 'null' ? { [name]: null } : {}
}

/** A total as number or as text. */
export function totalField(total: number, { totals }: Readonly<Switches>): number | string {
  return totals === 'text' ? String(total) : total
}

/** The envelope of 4.5 and 4.7. */
export function resultsEnvelope(switches: Readonly<Switches>): PageParts<never>['envelope'] {
  return (items, total, { page, pageSize }) => ({
    total_num: totalField(total, switches),
    total_page: Math.ceil(total / pageSize),
    page_num: page,
    page_size: pageSize,
    ...listField('results', items, switches),
  })
}
