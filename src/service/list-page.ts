import { z } from 'zod'
import { LivehouseError } from '../core/errors.ts'
import type { Page, PageRequest } from '../core/page.ts'
import type { Answer } from './send.ts'

/** A count: the service sends integers as numbers or as text (`"perPage": "20"`). */
const count = z
  .union([z.int().nonnegative(), z.string().regex(/^\s*\d{1,15}\s*$/)])
  .transform(Number)
  .pipe(z.int())
/** An echo helps where it can be read and says nothing where it cannot. */
const echo = count.optional().catch(undefined)
/** Null and missing lists are judged by `rowsOf`, with the total beside them. */
const rows = z.array(z.unknown()).nullish()

const resultsEnvelope = z.object({ total_num: count, page_num: echo, page_size: echo, results: rows })
const accountEnvelope = z.object({ page: z.object({ p: echo, perPage: echo, count }), data: rows })
const questionEnvelope = z.object({ total: count, page_index: echo, size: echo, question_list: rows })
const signupEnvelope = z.object({ total: count, page_index: echo, size: echo, data: rows, title: rows })
const bareEnvelope = z.array(z.unknown())

type Facts = Pick<Page, 'total' | 'echoedPage' | 'echoedPageSize'>

/**
 * Reads the envelope of a list endpoint; the items stay as they came.
 * @throws LivehouseError `api.badShape`: what is not the list is never "no rows".
 */
export function readListPage(request: PageRequest, name: string, { json, serviceTimeMs }: Answer): Page {
  const page = (
    facts: Facts,
    list: readonly unknown[] | null | undefined,
    title?: readonly unknown[] | null,
  ): Page => ({
    items: rowsOf(request, name, facts, list),
    ...facts,
    title: title ?? undefined,
    serviceTimeMs,
  })
  switch (request.list.endpoint) {
    case 'visitorList':
    case 'userRecordList': {
      const read = parse(resultsEnvelope, json, name)
      return page({ total: read.total_num, echoedPage: read.page_num, echoedPageSize: read.page_size }, read.results)
    }
    case 'managers':
    case 'managersUsage': {
      const { page: echoed, data } = parse(accountEnvelope, json, name)
      return page({ total: echoed.count, echoedPage: echoed.p, echoedPageSize: echoed.perPage }, data)
    }
    case 'getQuestionList': {
      const read = parse(questionEnvelope, json, name)
      const facts = { total: read.total, echoedPage: read.page_index, echoedPageSize: read.size }
      return page(facts, read.question_list)
    }
    case 'signupRecord': {
      const read = parse(signupEnvelope, json, name)
      const facts = { total: read.total, echoedPage: read.page_index, echoedPageSize: read.size }
      const signups = page(facts, read.data, read.title)
      if (signups.items.length > 0 && signups.title === undefined) {
        throw badShape(name, 'rows without their column headers (title)')
      }
      return signups
    }
    case 'userRecords':
    case 'giftRunning':
      return page(
        { total: undefined, echoedPage: undefined, echoedPageSize: undefined },
        parse(bareEnvelope, json, name),
      )
  }
}

/** No list is an empty page only where the envelope itself says that there is nothing to show. */
function rowsOf(
  { page, pageSize }: PageRequest,
  name: string,
  { total, echoedPageSize }: Facts,
  list: readonly unknown[] | null | undefined,
): readonly unknown[] {
  if (list) return list
  const isBeyondTheEnd = total !== undefined && (page - 1) * (echoedPageSize || pageSize) >= total
  if (isBeyondTheEnd) return []
  throw badShape(name, `${list === null ? 'null' : 'nothing'} in place of the list, although the total is ${total}`)
}

function parse<Schema extends z.ZodType>(schema: Schema, json: unknown, name: string): z.output<Schema> {
  const result = schema.safeParse(json)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const at = issue && issue.path.length > 0 ? ` (${issue.path.join('.')}: ${issue.message})` : ''
  throw badShape(name, `${describe(json)} where ${schema instanceof z.ZodArray ? 'an array' : 'a list'} belongs${at}`)
}

/** Field names that tell which envelope came in place of the expected one; any other may be a value in disguise. */
const telling = ['errcode', 'msg', 'code', 'message', 'status', 'page', 'data', 'results', 'total', 'total_num']

/** Names the shape, never the values. */
function describe(json: unknown): string {
  if (json === null) return 'null'
  if (Array.isArray(json)) return 'an array'
  if (typeof json !== 'object') return typeof json === 'string' ? 'a text' : `a ${typeof json}`
  const names = telling.filter((name) => Object.hasOwn(json, name))
  const size = Object.keys(json).length
  return `an object of ${size} fields${names.length === 0 ? '' : ` (${names.join(', ')})`}`
}

function badShape(name: string, reason: string): LivehouseError<'api.badShape'> {
  return new LivehouseError('api.badShape', `${name}: the answer is ${reason}`, { call: name, reason })
}
