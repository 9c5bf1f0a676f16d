import { hasCode, LivehouseError } from '../core/errors.ts'
import { type CallContext, describeList, type FetchPage, type ListRequest, type Page } from '../core/page.ts'

/** What reading the pages of one list takes. */
export interface PageReading {
  readonly fetchPage: FetchPage
  readonly list: ListRequest
  /** The largest page that the spec allows; where the service clamps it, what it sends decides. */
  readonly pageSize: number
  readonly readAhead: ReadAhead
  readonly context: CallContext
}

/**
 * How far the lists that are read at once may be read ahead. Together they hold no more than so many pages, however many they
 * are; and of long ones only a few are read at once: more of them would fetch no faster, but each would hold rows that wait
 * for a batch to fill.
 */
export interface ReadAhead {
  /** Resolves when a list of so many pages may be read beyond its first. */
  readonly begin: (pages: number) => Promise<PageShare>
}

export interface PageShare {
  /** How many pages may be asked for or held now, the next one included: at least 1. */
  readonly pages: () => number
  readonly end: () => void
}

/** @param number from 1 */
export async function fetchNumbered(
  { fetchPage, list, pageSize, context }: PageReading,
  number: number,
): Promise<Page> {
  return await fetchPage({ list, page: number, pageSize }, context)
}

/** A page that the service does not serve, though it may be there. */
export interface RefusedPage {
  readonly refusal: unknown
}

/**
 * A page that need not be there, or why the service refuses it, as some do past the last page. That alone tells nothing of where
 * a list ends: a total shows it, or other pages.
 */
export async function fetchUnlessRefused(reading: PageReading, number: number): Promise<Page | RefusedPage> {
  try {
    return await fetchNumbered(reading, number)
  } catch (error) {
    const isStatus = hasCode(error, 'api.status') && error.details.status < 500
    if (isStatus || hasCode(error, 'api.refused')) return { refusal: error }
    throw error
  }
}

/** How many items the largest of these pages holds: the service serves no fewer where more are asked for. */
export function largestPage(pages: readonly Page[]): number {
  return Math.max(...pages.map(({ items }) => items.length))
}

/** A page is an earlier one again. */
export function pageIgnored(
  { list }: PageReading,
  { items, echoedPage }: Page,
  number = 2,
  earlier = 1,
): LivehouseError {
  const call = describeList(list)
  const echo = echoedPage === undefined ? '' : `, and names it page ${echoedPage}`
  const evidence = `page ${number} holds the same ${items.length} items as page ${earlier}${echo}`
  return new LivehouseError(
    'paging.ignored',
    `${call}: the service ignores the page parameter: ${evidence}. Nothing beyond page ${earlier} can be read; ask the service's support.`,
    { call, parameter: 'page', evidence },
  )
}
