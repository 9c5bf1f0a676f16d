import { hasCode, LivehouseError } from '../core/errors.ts'
import { type CallContext, describeList, type FetchPage, type ListRequest, type Page } from '../core/page.ts'
import type { ReadAhead } from './read-ahead.ts'

/** What reading the pages of one list takes. */
export interface PageReading {
  readonly fetchPage: FetchPage
  readonly list: ListRequest
  /** The largest page that the spec allows; where the service clamps it, what it sends decides. */
  readonly pageSize: number
  readonly readAhead: ReadAhead
  readonly context: CallContext
}

/** @param number from 1 */
export async function fetchNumbered(
  { fetchPage, list, pageSize, context }: PageReading,
  number: number,
): Promise<Page> {
  return await fetchPage({ list, page: number, pageSize }, context)
}

/**
 * A page that need not be there: undefined where the service refuses it for good, as some do past the last page. Any other
 * failure is one.
 */
export async function fetchPastEnd(reading: PageReading, number: number): Promise<Page | undefined> {
  try {
    return await fetchNumbered(reading, number)
  } catch (error) {
    if (isNoSuchPage(error, reading.list)) return undefined
    throw error
  }
}

/** Of a list without a total: a page that the service does not serve, though it may be there. */
export interface RefusedPage {
  readonly refusal: unknown
}

/** A later page of a list without a total, or why the service refuses it: that alone tells nothing of where the list ends. */
export async function fetchUnlessRefused(reading: PageReading, number: number): Promise<Page | RefusedPage> {
  try {
    return await fetchNumbered(reading, number)
  } catch (error) {
    const isStatus = hasCode(error, 'api.status') && error.details.status < 500
    if (isStatus || hasCode(error, 'api.refused')) return { refusal: error }
    throw error
  }
}

/**
 * A page that is only looked at: undefined also where the service fails to serve it, as some do far down a list. Whoever needs
 * its rows asks for them another way, and is told of what is wrong then.
 */
export async function fetchIfServed(reading: PageReading, number: number): Promise<Page | undefined> {
  try {
    return await fetchPastEnd(reading, number)
  } catch (error) {
    if (ofOnePage.some((code) => hasCode(error, code))) return undefined
    throw error
  }
}

/** What may go wrong with one page while others are served. */
const ofOnePage = [
  'api.status',
  'api.timeout',
  'api.refused',
  'api.badBody',
  'api.bodyRefused',
  'api.badShape',
] as const

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

/** An errcode need not tell what it means (API 7.2): only where errcodes are the way to refuse may it be this. */
function isNoSuchPage(error: unknown, { stream }: ListRequest): boolean {
  if (hasCode(error, 'api.status')) return error.details.status === 400 || error.details.status === 404
  return stream.wire.envelope?.hasErrcode === true && hasCode(error, 'api.refused')
}
