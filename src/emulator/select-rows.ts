import type { WallTime } from '../core/wall-clock.ts'
import type { Envelope, ListQuery, Served } from './endpoint.ts'
import type { RowOrder, Switches } from './switches.ts'
import { hashText } from './world/random.ts'
import type { RowList } from './world/row-list.ts'

interface Wanted<Row> {
  readonly keep?: (row: Row) => boolean
  /** What the range of the query is held against; without it there is no range. */
  readonly time?: (row: Row) => WallTime
  /** What `time` of the order sorts by, if not by the time above. */
  readonly rank?: (row: Row) => number | string
  /** That of the switch if not given. */
  readonly order?: RowOrder
  /** Text that tells rows apart, for the shuffled order. */
  readonly identity: (row: Row) => string
  readonly toWire: (row: Row) => unknown
  readonly envelope: Envelope
}

/** Selects and sorts once for each query and version of the list; a page costs its own rows. */
export function serveRows<Row extends object>(
  list: RowList<Row>,
  query: ListQuery,
  switches: Readonly<Switches>,
  wanted: Wanted<Row>,
): Served {
  const { keep = () => true, time, order = switches.rowOrder, identity, toWire, envelope } = wanted
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = query
  const { filterEnds } = switches
  const isWithin = (at: WallTime): boolean =>
    (at > from || (at === from && filterEnds !== 'exclusive')) && (at < to || (at === to && filterEnds === 'inclusive'))
  const byTime = wanted.rank ?? time ?? (() => 0)
  const rank =
    order === 'shuffled' ? (row: Row) => hashText(identity(row)) : order.startsWith('time') ? byTime : () => 0
  const compare = (a: Row, b: Row): number => {
    const [left, right] = [rank(a), rank(b)]
    return left < right ? -1 : left > right ? 1 : 0
  }
  const whole = { ...query, page: 0, pageSize: 0, echoPage: 0, echoPageSize: 0 }
  const rows = list.kept(JSON.stringify([whole, switches]), () => {
    const found = list.rows.filter((row) => keep(row) && (time === undefined || isWithin(time(row)))).sort(compare)
    return order.endsWith('-desc') ? found.reverse() : found
  })
  const items = (start: number, end: number) => rows.slice(start, end).map((row) => toWire(row))
  return { count: rows.length, items, envelope, version: list.version }
}
