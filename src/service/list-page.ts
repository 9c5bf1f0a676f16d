import { LivehouseError } from '../core/errors.ts'
import type { Page, PageRequest } from '../core/page.ts'
import type { Answer } from './send.ts'

/**
 * Reads the envelope of a list's answer, as its stream's wire says; the items stay as they came.
 * @throws LivehouseError `api.badShape`: what is not the list is never "no rows".
 */
export function readListPage(request: PageRequest, name: string, { json, serviceTimeMs }: Answer): Page {
  const { envelope } = request.list.stream.wire
  if (envelope === undefined) {
    if (!Array.isArray(json)) throw badShape(name, `${describe(json)} where an array belongs`)
    const nothing = { total: undefined, echoedPage: undefined, echoedPageSize: undefined, title: undefined }
    return { items: json, ...nothing, serviceTimeMs }
  }
  const total = countOf(valueAt(json, envelope.total))
  if (total === undefined) throw badShape(name, `${describe(json)} where a list belongs (${envelope.total}: no count)`)
  const list = listAt(json, envelope.items, name)
  const title = envelope.title === undefined ? undefined : (listAt(json, envelope.title, name) ?? undefined)
  // An echo helps where it can be read and says nothing where it cannot.
  const echoedPage = countOf(valueAt(json, envelope.page))
  const echoedPageSize = countOf(valueAt(json, envelope.size))
  const items = list ?? noItems(request, name, list, total, echoedPageSize)
  if (items.length > 0 && envelope.title !== undefined && title === undefined) {
    throw badShape(name, `rows without their column headers (${envelope.title})`)
  }
  return { items, total, echoedPage, echoedPageSize, title, serviceTimeMs }
}

/** @param path names of fields, with dots between them */
function valueAt(json: unknown, path: string): unknown {
  return path.split('.').reduce((value, field) => (isObject(value) ? value[field] : undefined), json)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A count: the service sends integers as numbers or as text (`"perPage": "20"`). */
function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined
}

/** Null and missing lists are judged with the total beside them. */
function listAt(json: unknown, path: string, name: string): readonly unknown[] | null | undefined {
  const list = valueAt(json, path)
  if (list === null || list === undefined || Array.isArray(list)) return list
  throw badShape(name, `${describe(json)} where a list belongs (${path}: ${describe(list)})`)
}

/** No list is an empty page only where the envelope itself says that there is nothing to show. */
function noItems(
  { page, pageSize }: PageRequest,
  name: string,
  list: null | undefined,
  total: number,
  echoedPageSize: number | undefined,
): readonly unknown[] {
  if ((page - 1) * (echoedPageSize || pageSize) >= total) return []
  throw badShape(name, `${list === null ? 'null' : 'nothing'} in place of the list, although the total is ${total}`)
}

/** Field names that tell which envelope came in place of the expected one; any other may be a value in disguise. */
const telling = ['errcode', 'msg', 'code', 'message', 'status', 'page', 'data', 'results', 'total', 'total_num']

/** Names the shape, never the values. */
function describe(json: unknown): string {
  if (json === null) return 'null'
  if (json === undefined) return 'nothing'
  if (Array.isArray(json)) return 'an array'
  if (typeof json !== 'object') return typeof json === 'string' ? 'a text' : `a ${typeof json}`
  const names = telling.filter((name) => Object.hasOwn(json, name))
  const size = Object.keys(json).length
  return `an object of ${size} fields${names.length === 0 ? '' : ` (${names.join(', ')})`}`
}

function badShape(name: string, reason: string): LivehouseError<'api.badShape'> {
  return new LivehouseError('api.badShape', `${name}: the answer is ${reason}`, { call: name, reason })
}
