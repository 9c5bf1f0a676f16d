import { LivehouseError } from '../core/errors.ts'
import { isObject } from '../core/text.ts'
import type { Ask, FetchPage, ListPlace, ListRequest, Page, PageRequest } from '../core/page.ts'
import { describeList, endpointOf } from '../core/slice.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import type { Answer, Call, Send } from './send.ts'

/** @param repeat `once` for a caller that takes a refusal as an answer */
export function createAsk(send: Send, repeat?: 'once', onFirstPage?: () => Promise<void>): Ask {
  let first: Promise<void> | undefined
  return async (request, context, place) => {
    const call = { ...listCall(request, place), ...(repeat && { repeat }) }
    const answer = await send(call, context)
    // Where calls are few, an empty page ends the reading for good: null has to come twice to count as one.
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
 * Fetches pages of every list. The spec does not show whether the parameters of 4.8 and 4.9 belong in query or body:
 * where the echoed `page` shows that they had no effect, the other place is tried once, and kept if it is right. Where
 * neither has an effect, the page is taken as it is: the next one shows that it repeats.
 * @param configured the place that is tried first
 */
export function createFetchPage(send: Send, configured: ListPlace, onFirstPage?: () => Promise<void>): FetchPage {
  const known = new Map<string, ListPlace>()
  const ask = createAsk(send, undefined, onFirstPage)

  return async (request, context) => {
    const { name, wire } = request.list.stream
    if (wire.place !== 'unknown') return await ask(request, context)
    const settled = known.get(name)
    const first = settled ?? configured
    const page = await ask(request, context, first)
    if (isProof(request, page)) known.set(name, first)
    // A place that was right once is right: the service clamps, or the list has become shorter.
    if (settled !== undefined || page.items.length === page.total || isHeeded(request, page)) return page
    const other = first === 'query' ? 'body' : 'query'
    const second = await ask(request, context, other).catch((error: unknown) => ignoreRefusal(error))
    if (second === undefined || !isHeeded(request, second)) return page
    if (isProof(request, second)) known.set(name, other)
    return second
  }
}

/**
 * Whether the parameters had an effect, as far as the answer's echo shows. A smaller size than was asked for is taken
 * for a limit of the service, unless it is the default on page 1.
 */
function isHeeded(request: PageRequest, { echoedPage, echoedPageSize = request.pageSize }: Page): boolean {
  const { page, pageSize } = request
  const isClamped = echoedPageSize < pageSize && (page > 1 || echoedPageSize !== request.list.stream.wire.defaultSize)
  return (echoedPage ?? page) === page && (echoedPageSize === pageSize || isClamped)
}

/** Whether the echo cannot come from defaults. A size that was not asked for proves nothing: it may be one of these. */
function isProof(request: PageRequest, { echoedPage, echoedPageSize }: Page): boolean {
  const { page, pageSize, list } = request
  const isOwnSize = echoedPageSize === pageSize && pageSize !== list.stream.wire.defaultSize
  return (echoedPage ?? page) === page && (isOwnSize || (echoedPage !== undefined && page > 1))
}

/** A refusal shows that the other place is wrong. @throws any other error */
function ignoreRefusal(error: unknown): undefined {
  if (error instanceof LivehouseError && ['api.status', 'api.refused', 'api.badShape'].includes(error.code)) return
  throw error
}

/**
 * The call for one page of a list, as its stream's wire says, every parameter given.
 * @param place only where the wire does not say it
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
    repeat: isBudgeted ? 'once' : 'read',
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
 * Reads the envelope of a list's answer, as its stream's wire says; the items stay as they came.
 * @throws LivehouseError `api.badShape` where the list is not there: that is never taken for "no rows".
 */
function readListPage(request: PageRequest, name: string, { json, serviceTimeMs }: Answer): Page {
  const { envelope } = request.list.stream.wire
  if (envelope === undefined) {
    if (json !== null && !Array.isArray(json)) throw badShape(name, `${describe(json)} where an array belongs`)
    const nothing = { total: undefined, echoedPage: undefined, echoedPageSize: undefined, title: undefined }
    return { items: json ?? [], ...nothing, serviceTimeMs }
  }
  const counted = valueAt(json, envelope.total) ?? undefined
  const total = countOf(counted)
  // Some services tell the total on page 1 alone.
  if (total === undefined && (request.page === 1 || counted !== undefined)) {
    const what = counted === undefined ? 'is missing' : 'is no count'
    const where = `its field ${envelope.total}, how many rows there are, ${what}`
    throw badShape(name, `${describe(json)} where a list belongs: ${where}`)
  }
  const list = listAt(json, envelope.items, name)
  const title = envelope.title === undefined ? undefined : (listAt(json, envelope.title, name) ?? undefined)
  const echoedPage = countOf(valueAt(json, envelope.page ?? ''))
  const echoedPageSize = countOf(valueAt(json, envelope.size ?? ''))
  // A missing list is an empty page only where the total says that this page has no rows; null also where page 1 alone
  // tells the total, with which the rows that came are compared.
  const rowsBefore = (request.page - 1) * (echoedPageSize || request.pageSize)
  const isEmptyPage = total === undefined ? list === null : rowsBefore >= total
  if (!list && !isEmptyPage) {
    const told = total === undefined ? 'and it tells no total' : `although the total is ${total}`
    throw badShape(name, `${list === null ? 'null' : 'nothing'} in place of the list, ${told}`)
  }
  const items = list ?? []
  if (items.length > 0 && envelope.title !== undefined && title === undefined)
    throw badShape(name, `rows without their column headers (${envelope.title})`)
  return { items, total, echoedPage, echoedPageSize, title, serviceTimeMs }
}

/** @param path names of fields, with dots between them */
function valueAt(json: unknown, path: string): unknown {
  return path.split('.').reduce((value, field) => (isObject(value) ? value[field] : undefined), json)
}

/** A count: the service sends integers as numbers or as text (`"perPage": "20"`). */
function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined
}

/** A list, or null or undefined, which the caller judges by the total. @throws api.badShape for anything else */
function listAt(json: unknown, path: string, name: string): readonly unknown[] | null | undefined {
  const list = valueAt(json, path)
  if (list === null || list === undefined || Array.isArray(list)) return list
  throw badShape(name, `${describe(json)} where a list belongs (${path}: ${describe(list)})`)
}

/** Field names that show which envelope came instead. No others are shown: a name may itself be an id. */
const envelopeFields = ['errcode', 'msg', 'code', 'message', 'status', 'page', 'data', 'results', 'total', 'total_num']

/** Names the shape, never the values. */
function describe(json: unknown): string {
  if (json === null) return 'null'
  if (json === undefined) return 'nothing'
  if (Array.isArray(json)) return 'an array'
  if (typeof json !== 'object') return typeof json === 'string' ? 'a text' : `a ${typeof json}`
  const names = envelopeFields.filter((name) => Object.hasOwn(json, name))
  return `an object of ${Object.keys(json).length} fields${names.length === 0 ? '' : ` (${names.join(', ')})`}`
}

/** @param reason continues "the answer is" */
export function badShape(name: string, reason: string): LivehouseError<'api.badShape'> {
  return new LivehouseError('api.badShape', `${name}: the answer is ${reason}`, { call: name })
}
