import { DAY, type WallTime } from '../core/wall-clock.ts'
import { type Answer, answerWith, refusals, refuse } from './answer.ts'
import type { Call, Envelope, ListEndpoint, QueryResult, Service } from './endpoint.ts'
import { createParamReader, type ListQuery, type ParamReader } from './params.ts'
import type { Switches } from './switches.ts'
import { hashText } from './world/random.ts'
import type { RowList } from './world/row-list.ts'

/** Properties that most lists share. */
export const listDefaults = {
  family: 'errors',
  defaultPageSize: 20,
  maxPageSize: 100,
  pageParam: 'p',
  sizeParam: 'perPage',
  readFilters: () => ({}),
} as const

/** Answers a call of a list endpoint with the requested page, or with the one that faults put in its place. */
export function answerList(list: ListEndpoint, { name, params, channel, effects }: Call, service: Service): Answer {
  const { switches } = service
  const reader = createParamReader(params)
  const requested = readQuery(list, reader)
  if (reader.refusal) return refuse(list.family, reader.refusal, switches.errcodeStatus)
  if (isTooLong(requested, switches)) return refuse(list.family, refusals.invalid('time range'), switches.errcodeStatus)
  const query = effects.reduce((before, effect) => effect.query?.(before) ?? before, requested)
  const result = list.serve(query, service, channel)
  if (result === undefined) return refuse(list.family, refusals.notFound('question'), switches.errcodeStatus)
  // Everything that the body depends on.
  const { id, name: title, adminId, questionnaires } = channel ?? {}
  const key = [name, id, title, adminId, questionnaires?.version, result.version, query, switches]
  return servePage(list, query, switches, result, JSON.stringify(key))
}

function readQuery(list: ListEndpoint, reader: ParamReader): ListQuery {
  const page = reader.count(list.pageParam) ?? 1
  // A size above the maximum counts as the maximum.
  const pageSize = Math.min(reader.count(list.sizeParam) ?? list.defaultPageSize, list.maxPageSize)
  return { page, pageSize, echoPage: page, echoPageSize: pageSize, ...list.readFilters(reader) }
}

/** Whether the time range of the query, if its list has one, covers more days than the service allows. */
function isTooLong(query: ListQuery, { longestWindowDays = Number.POSITIVE_INFINITY }: Readonly<Switches>): boolean {
  if (!('from' in query)) return false
  return (query.to ?? Number.POSITIVE_INFINITY) - (query.from ?? 0) > longestWindowDays * DAY
}

function servePage(
  { family }: ListEndpoint,
  query: ListQuery,
  switches: Readonly<Switches>,
  { count: allRows, items, envelope }: QueryResult,
  cacheKey: string,
): Answer {
  const { pageSize } = query
  const total = Math.min(allRows, switches.largestTotal ?? allRows)
  const count = switches.hidesBehindTotal ? total : allRows
  const lastPage = Math.max(1, Math.ceil(count / pageSize))
  const isBeyond = query.page > lastPage
  if (isBeyond && switches.beyondLastPage === 'error')
    return refuse(family, refusals.invalid('page'), switches.errcodeStatus)
  const repeats = { empty: undefined, error: undefined, 'repeat-first': 1, 'repeat-last': lastPage }
  const repeatedPage = isBeyond ? repeats[switches.beyondLastPage] : undefined
  const page = repeatedPage ?? query.page
  const echo = { page: repeatedPage ?? query.echoPage, pageSize: query.echoPageSize }
  return answerWith({
    kind: 'list',
    items: () => items((page - 1) * pageSize, Math.min(count, page * pageSize)),
    total,
    envelope: (pageItems, sentTotal) => envelope(pageItems, sentTotal, echo, switches),
    cacheKey,
  })
}

interface ListRules<Row> {
  readonly keep?: (row: Row) => boolean
  /** The time that the query's range applies to; undefined for a list without a time filter. */
  readonly time?: (row: Row) => WallTime
  /** The value that the list is ordered by, if it is not `time`. */
  readonly rank?: (row: Row) => number | string
  /** The switch `rowOrder` if not given. */
  readonly order?: Switches['rowOrder']
  /** Text that tells rows apart; its hash shuffles them. */
  readonly identity: (row: Row) => string
  readonly toWire: (row: Row) => unknown
  readonly envelope: Envelope
}

/** Selects and sorts the rows once for each query and version of the list, so that a page costs only its own rows. */
export function serveRows<Row extends object>(
  list: RowList<Row>,
  query: ListQuery,
  switches: Readonly<Switches>,
  rules: ListRules<Row>,
): QueryResult {
  const { keep = () => true, time, order = switches.rowOrder, identity, toWire, envelope } = rules
  const rank = rankIn(order, rules)
  const direction = order.endsWith('-desc') ? -1 : 1
  const compare = (a: Row, b: Row): number => {
    const [left, right] = [rank(a), rank(b)]
    return left < right ? -1 : left > right ? 1 : 0
  }
  const anyPage = { ...query, page: 0, pageSize: 0, echoPage: 0, echoPageSize: 0 }
  const rows = list.memoize(JSON.stringify([anyPage, switches]), () => {
    const isIn = (row: Row) => keep(row) && (time === undefined || isWithin(time(row), query, switches))
    const matches = list.rows.filter(isIn).sort(compare)
    return direction < 0 ? matches.reverse() : matches
  })
  /** Orders rows that sort equal differently for each page, as a database may. */
  const shuffleTies = (start: number, end: number): readonly Row[] => {
    const rankOf = (row: Row) => hashText(`${identity(row)} ${start} ${end}`)
    return order.startsWith('time') ? rows.toSorted((a, b) => direction * compare(a, b) || rankOf(a) - rankOf(b)) : rows
  }
  const items = (start: number, end: number) =>
    (switches.ties === 'by-page' ? shuffleTies(start, end) : rows).slice(start, end).map((row) => toWire(row))
  return { count: rows.length, items, envelope, version: list.version }
}

/** Whether a time lies in the range of a query. */
function isWithin(at: WallTime, { from = -Infinity, to = Infinity }: ListQuery, { filterEnds }: Readonly<Switches>) {
  const isAfterStart = at > from || (at === from && filterEnds !== 'exclusive')
  return isAfterStart && (at < to || (at === to && filterEnds === 'inclusive'))
}

/** The value by which an order sorts rows; the same one for all rows if they stay in the order in which they came. */
function rankIn<Row>(order: Switches['rowOrder'], { rank, time = () => 0, identity }: ListRules<Row>) {
  if (order === 'shuffled') return (row: Row) => hashText(identity(row))
  return order.startsWith('time') ? (rank ?? time) : () => 0
}
