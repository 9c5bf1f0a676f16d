import type { WallTime } from '../core/wall-clock.ts'
import type { RowOrder, Switches } from './switches.ts'
import { hashText } from './world/random.ts'
import type { RowList } from './world/row-list.ts'

/** Rows of a list in the order of the answer, cut out without being copied. */
export interface Selection<Item> {
  readonly count: number
  readonly slice: (from: number, to: number) => readonly Item[]
}

interface Wanted<Item> {
  /** The list's own time. */
  readonly time: TimeField<Item>
  /** What the filter looks at; the list's own time by default. */
  readonly filterTime?: TimeField<Item>
  readonly keep?: { readonly name: string; readonly accepts: (row: Item) => boolean } | undefined
  readonly from?: WallTime | undefined
  readonly to?: WallTime | undefined
  readonly ends: Switches['filterEnds']
  readonly order: RowOrder
  /** Text that tells rows apart, for the shuffled order. */
  readonly identityOf: (row: Item) => string
}

interface TimeField<Item> {
  readonly name: string
  readonly of: (row: Item) => WallTime
}

/** Sorts once for each version of the list; a request costs two binary searches and the page's rows. */
export function selectRows<Item extends object>(list: RowList<Item>, wanted: Wanted<Item>): Selection<Item> {
  const { time, filterTime = time, keep, order } = wanted
  const name = `${filterTime.name}/${keep?.name ?? ''}`
  const byTime = list.sorted(name, (a, b) => filterTime.of(a) - filterTime.of(b), keep?.accepts)
  const [from, to] = bounds(byTime, filterTime.of, wanted)
  const isOwnTime = filterTime.name === time.name
  if (order === 'time-asc' && isOwnTime) return ascending(byTime, from, to)
  if (order === 'time-desc' && isOwnTime) return descending(byTime, from, to)
  const rows = list.sorted(`${name}/${order}/${from}/${to}`, comparison(order, wanted), rowsWithin(byTime, from, to))
  return order === 'time-desc' || order === 'id-desc'
    ? descending(rows, 0, rows.length)
    : ascending(rows, 0, rows.length)
}

export function ascending<Item>(rows: readonly Item[], start: number, end: number): Selection<Item> {
  return { count: end - start, slice: (from, to) => rows.slice(start + from, Math.min(start + to, end)) }
}

export function descending<Item>(rows: readonly Item[], start: number, end: number): Selection<Item> {
  return { count: end - start, slice: (from, to) => rows.slice(Math.max(start, end - to), end - from).reverse() }
}

/** The rows as they go out; only those of the page are built. */
export function wired<Item>(rows: Selection<Item>, toWire: (row: Item) => unknown): Selection<unknown> {
  return { count: rows.count, slice: (from, to) => rows.slice(from, to).map((row) => toWire(row)) }
}

function comparison<Item>(order: RowOrder, { time, identityOf }: Wanted<Item>): (a: Item, b: Item) => number {
  switch (order) {
    case 'time-asc':
    case 'time-desc':
      return (a, b) => time.of(a) - time.of(b)
    case 'id-asc':
    case 'id-desc':
      return () => 0
    case 'shuffled':
      return (a, b) => hashText(identityOf(a)) - hashText(identityOf(b))
  }
}

function rowsWithin<Item>(rows: readonly Item[], from: number, to: number): (row: Item) => boolean {
  const within = new Set(rows.slice(from, to))
  return (row) => within.has(row)
}

function bounds<Item>(
  rows: readonly Item[],
  timeOf: (row: Item) => WallTime,
  { from, to, ends }: Wanted<Item>,
): readonly [number, number] {
  const start =
    from === undefined ? 0 : firstIndex(rows, (row) => timeOf(row) >= (ends === 'exclusive' ? from + 1 : from))
  const end =
    to === undefined ? rows.length : firstIndex(rows, (row) => timeOf(row) >= (ends === 'inclusive' ? to + 1 : to))
  return [start, Math.max(start, end)]
}

/** Binary search for the first row that `isPast` accepts. */
function firstIndex<Item>(rows: readonly Item[], isPast: (row: Item) => boolean): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle]
    if (row !== undefined && isPast(row)) high = middle
    else low = middle + 1
  }
  return low
}
