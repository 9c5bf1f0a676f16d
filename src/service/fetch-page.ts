import { LivehouseError } from '../core/errors.ts'
import type { CallContext, FetchPage, Page, PageRequest } from '../core/page.ts'
import type { StreamName } from '../core/stream.ts'
import { type ListPlace, listCall } from './list-call.ts'
import { readListPage } from './list-page.ts'
import type { Send } from './send.ts'

/** Asks for one page exactly as told. @throws LivehouseError with an `api.…` code */
export type Ask = (request: PageRequest, context: CallContext, place?: ListPlace) => Promise<Page>

/**
 * Asks as told, to learn how the service takes it: a refusal is an answer and is not repeated, only one failure of
 * transport is, and the parameters of 4.8 and 4.9 stand where `place` says.
 */
export function createAsk(send: Send): Ask {
  return async (request, context, place) => {
    const call = listCall(request, place)
    return readListPage(request, call.name, await send({ ...call, repeat: 'once' }, context))
  }
}

/**
 * Fetches pages of every list. Where the parameters of 4.8 and 4.9 belong is not shown in the spec: when the echoed
 * `page` shows that they had no effect, the other place is tried once by itself and remembered.
 * @param configured the place that is tried first
 * @returns a function that @throws LivehouseError `paging.ignored` when neither place has an effect
 */
export function createFetchPage(send: Send, configured: ListPlace): FetchPage {
  const known = new Map<StreamName, ListPlace>()

  const ask: Ask = async (request, context, place) => {
    const call = listCall(request, place)
    return readListPage(request, call.name, await send(call, context))
  }

  return async (request, context) => {
    const { name, wire } = request.list.stream
    if (wire.place !== 'unknown') return await ask(request, context)
    const settled = known.get(name)
    const place = settled ?? configured
    const page = await ask(request, context, place)
    if (isHeeded(request, page)) {
      if (isProof(request, page)) known.set(name, place)
      return page
    }
    // A place that has proved itself is not doubted again: the service clamps, or the list has become shorter.
    if (settled !== undefined || isWhole(request, page)) return page
    const other = place === 'query' ? 'body' : 'query'
    const second = await ask(request, context, other).catch((error: unknown) => onlyRefused(error))
    if (second && isHeeded(request, second)) {
      if (isProof(request, second)) known.set(name, other)
      return second
    }
    // The size may be clamped to the default: page 2 tells.
    if (request.page === 1) return page
    throw ignored(request, page)
  }
}

/**
 * An answer without an echo cannot be judged and counts as heeded. A smaller size than was asked for is a clamped one,
 * unless it is the default and nothing but the size is there to tell.
 */
function isHeeded(request: PageRequest, { echoedPage, echoedPageSize = request.pageSize }: Page): boolean {
  const { page, pageSize } = request
  const isClamped = echoedPageSize < pageSize && (page > 1 || echoedPageSize !== request.list.stream.wire.defaultSize)
  return (echoedPage ?? page) === page && (echoedPageSize === pageSize || isClamped)
}

/** The echo of a default proves nothing, nor does that of a size which was not asked for: it may be another default. */
function isProof(request: PageRequest, { echoedPage, echoedPageSize }: Page): boolean {
  return (
    (echoedPage !== undefined && request.page > 1) ||
    (echoedPageSize === request.pageSize && request.pageSize !== request.list.stream.wire.defaultSize)
  )
}

/** Nothing is missing, whatever the echo says: all there is fits this page, or the page lies past the end. */
function isWhole(request: PageRequest, { items, total, echoedPageSize }: Page): boolean {
  if (total === undefined) return false
  if (request.page === 1) return items.length === total
  return echoedPageSize === request.pageSize && (request.page - 1) * request.pageSize >= total
}

/** A service that refuses the other place has answered the question; any other failure is one. */
function onlyRefused(error: unknown): undefined {
  if (error instanceof LivehouseError && ['api.status', 'api.refused', 'api.badShape'].includes(error.code)) return
  throw error
}

function ignored(request: PageRequest, page: Page): LivehouseError<'paging.ignored'> {
  const call = listCall(request).name
  const said = `the answer says page ${page.echoedPage} of ${page.echoedPageSize}`
  const places = 'with the parameters in the query as well as in the body'
  const evidence = `asked for page ${request.page} of ${request.pageSize}, ${said}, ${places}`
  const { page: number, size } = request.list.stream.wire.paging
  const details = { call, parameter: `${number}, ${size}`, evidence }
  return new LivehouseError('paging.ignored', `${call}: the page parameters have no effect: ${evidence}`, details)
}
