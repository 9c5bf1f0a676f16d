import { LivehouseError } from '../core/errors.ts'
import type { Ask, FetchPage, ListPlace, ListRequest, Page, PageRequest } from '../core/page.ts'
import { describeList, endpointOf } from '../core/slice.ts'
import { isObject } from '../core/text.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import type { Answer, Call, Send } from './send.ts'

/** Creates a function that fetches one page. @param retries `once` for a caller to whom a refusal is an answer too */
export function createAsk(send: Send, retries?: 'once', onFirstPage?: () => Promise<void>): Ask {
  let first: Promise<void> | undefined
  return async (request, context, place) => {
    const call = { ...listCall(request, place), ...(retries && { retries }) }
    const answer = await send(call, context)
    // In a list with a call budget, an empty page ends the reading for good, so null must come twice to count as one.
    const isSure = answer.json !== null || !request.list.stream.isBudgeted
    const page = readListPage(request, call.name, isSure ? answer : await send(call, context))
    first ??= onFirstPage?.().catch((error: unknown) => {
      first = undefined
      throw error
    })
    await first
    return page
  }
}

/**
 * Creates the function that fetches a page of any list. The spec does not show whether 4.8 and 4.9 take parameters
 * from the query or the body. If the echoed `page` shows that they had no effect, the other place is tried, and
 * remembered if it works. If neither works, the first answer is returned; the next page then shows that it repeats.
 * @param configured the place to try first
 */
export function createFetchPage(send: Send, configured: ListPlace, onFirstPage?: () => Promise<void>): FetchPage {
  const provenPlaces = new Map<string, ListPlace>()
  const ask = createAsk(send, undefined, onFirstPage)

  return async (request, context) => {
    const { name, wire } = request.list.stream
    if (wire.place !== 'unknown') return await ask(request, context)
    const provenPlace = provenPlaces.get(name)
    const first = provenPlace ?? configured
    const page = await ask(request, context, first)
    if (isProof(request, page)) provenPlaces.set(name, first)
    // A proven place stays: an odd echo then means that the service clamps, or that the list has become shorter.
    if (provenPlace !== undefined || page.items.length === page.total || isHeeded(request, page)) return page
    const other = first === 'query' ? 'body' : 'query'
    const second = await ask(request, context, other).catch((error: unknown) => ignoreRefusal(error))
    if (second === undefined || !isHeeded(request, second)) return page
    if (isProof(request, second)) provenPlaces.set(name, other)
    return second
  }
}

/**
 * Whether the echo agrees with the parameters. A smaller size than requested counts as the service's limit, unless it
 * is the default size and this is page 1.
 */
function isHeeded(request: PageRequest, { echoedPage, echoedPageSize = request.pageSize }: Page): boolean {
  const { page, pageSize } = request
  const isClamped = echoedPageSize < pageSize && (page > 1 || echoedPageSize !== request.list.stream.wire.defaultSize)
  return (echoedPage ?? page) === page && (echoedPageSize === pageSize || isClamped)
}

/** Whether the echo proves that the parameters had an effect, as defaults would give another one. */
function isProof(request: PageRequest, { echoedPage, echoedPageSize }: Page): boolean {
  const { page, pageSize, list } = request
  const isOwnSize = echoedPageSize === pageSize && pageSize !== list.stream.wire.defaultSize
  return (echoedPage ?? page) === page && (isOwnSize || (echoedPage !== undefined && page > 1))
}

/** Ignores a refusal, which shows that the other place is wrong. @throws any other error */
function ignoreRefusal(error: unknown): undefined {
  if (error instanceof LivehouseError && ['api.status', 'api.refused', 'api.badShape'].includes(error.code)) return
  throw error
}

/**
 * Builds the call for one page from the stream's `wire`, with every parameter explicit.
 * @param place used only if `wire` leaves the place open
 */
function listCall(request: PageRequest, place: ListPlace = 'query'): Call {
  const { list, page, pageSize } = request
  const { wire, isBudgeted = false } = list.stream
  const { channel = '' } = list.partition
  const name = `${wire.method} ${describeList(list)} page ${page}`
  const parameters = {
    ...wire.constants,
    ...(list.isReversed && wire.reversed),
    ...partsOf(list),
    ...windowOf(list),
    [wire.paging.size]: pageSize,
    [wire.paging.page]: page,
  }
  const texts = () => Object.fromEntries(Object.entries(parameters).map(([key, value]) => [key, String(value)]))
  return {
    endpoint: endpointOf(list.stream),
    name,
    method: wire.method,
    host: 'base',
    path: wire.path.replace('{channel}', encodeURIComponent(channel)),
    ...(wire.place === 'unknown' && place === 'query' ? { query: texts() } : { body: parameters }),
    ...(wire.path.includes('{channel}') ? { channelId: channel } : {}),
    authorization: 'bearer',
    retries: isBudgeted ? 'once' : 'read',
    isBudgeted,
  }
}

function partsOf({ stream, partition }: ListRequest): Readonly<Record<string, string>> {
  const parts = Object.entries(stream.wire.parts ?? {})
  return Object.fromEntries(parts.map(([parameter, part]) => [parameter, partition[part] ?? '']))
}

function windowOf({ stream, window }: ListRequest): Readonly<Record<string, string>> {
  const names = stream.wire.window
  if (names === undefined || window === undefined) return {}
  return { [names.from]: formatWallTime(window.from), [names.to]: formatWallTime(window.to) }
}

/**
 * Reads an answer's envelope as the stream's `wire` describes it, and leaves the items unparsed.
 * @throws LivehouseError `api.badShape` if the list is missing: a missing list never counts as "no rows".
 */
function readListPage(request: PageRequest, name: string, { json, serviceTimeMs }: Answer): Page {
  const { envelope } = request.list.stream.wire
  if (envelope === undefined) {
    if (json !== null && !Array.isArray(json)) throw badShape(name, `${describe(json)} where an array belongs`)
    const nothing = { total: undefined, echoedPage: undefined, echoedPageSize: undefined, title: undefined }
    return { items: json ?? [], ...nothing, serviceTimeMs }
  }
  const rawTotal = valueAt(json, envelope.total) ?? undefined
  const total = countOf(rawTotal)
  // Some services give the total on page 1 only.
  if (total === undefined && (request.page === 1 || rawTotal !== undefined)) {
    const what = rawTotal === undefined ? 'is missing' : 'is not a count'
    const where = `its field ${envelope.total}, the number of rows, ${what}`
    throw badShape(name, `${describe(json)} where a list belongs: ${where}`)
  }
  const list = listAt(json, envelope.items, name)
  const title = envelope.title === undefined ? undefined : (listAt(json, envelope.title, name) ?? undefined)
  const echoedPage = countOf(valueAt(json, envelope.page ?? ''))
  const echoedPageSize = countOf(valueAt(json, envelope.size ?? ''))
  // Null is an empty page: rows are compared with the total. A missing list is one only if the total says so.
  const rowsBefore = (request.page - 1) * (echoedPageSize || request.pageSize)
  if (list === undefined && (total === undefined || rowsBefore < total)) {
    const reason = total === undefined ? 'and there is no total' : `although the total is ${total}`
    throw badShape(name, `nothing instead of the list, ${reason}`)
  }
  const items = list ?? []
  if (items.length > 0 && envelope.title !== undefined && title === undefined)
    throw badShape(name, `rows without their column headers (${envelope.title})`)
  return { items, total, echoedPage, echoedPageSize, title, serviceTimeMs }
}

/** The value of a nested field. @param path field names joined by dots */
function valueAt(json: unknown, path: string): unknown {
  return path.split('.').reduce((value, field) => (isObject(value) ? value[field] : undefined), json)
}

/** Reads a count, which the service sends as a number or as text (`"perPage": "20"`). */
function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined
}

/** The list in a field; null or undefined if it is missing, for the caller to judge. @throws `api.badShape` */
function listAt(json: unknown, path: string, name: string): readonly unknown[] | null | undefined {
  const list = valueAt(json, path)
  if (list === null || list === undefined || Array.isArray(list)) return list
  throw badShape(name, `${describe(json)} where a list belongs (${path}: ${describe(list)})`)
}

/** Field names that a message may show, to tell which envelope came instead. Any other name may itself be an id. */
const envelopeFields = ['errcode', 'msg', 'code', 'message', 'status', 'page', 'data', 'results', 'total', 'total_num']

/** Describes the shape of a value, never its contents. */
function describe(json: unknown): string {
  if (json === null) return 'null'
  if (json === undefined) return 'nothing'
  if (Array.isArray(json)) return 'an array'
  if (typeof json !== 'object') return `a ${typeof json}`
  const names = envelopeFields.filter((name) => Object.hasOwn(json, name))
  return `an object of ${Object.keys(json).length} fields${names.length === 0 ? '' : ` (${names.join(', ')})`}`
}

/** The error for an answer of the wrong shape. @param reason completes "the answer is" */
export function badShape(name: string, reason: string): LivehouseError<'api.badShape'> {
  return new LivehouseError('api.badShape', `${name}: the answer is ${reason}`, { call: name })
}
