import { type WallTime, wallTimeAt } from '../../../src/core/wall-clock.ts'
import type { TruthRow } from '../../../src/emulator/truth.ts'
import { identityOf, timesOf } from '../model/model-world.ts'
import { canonical } from '../read-table.ts'

/** The rows of each table. */
export type Rows = ReadonlyMap<string, TruthRows>
type TruthRows = readonly TruthRow[]
/** What rows are compared by. */
export type ToText = (row: TruthRow) => string

/** How closely rows are compared. */
export interface Precision {
  /** The service once sent times of gifts and signups without seconds, and these may remain. */
  readonly isToTheMinute: boolean
  /** Columns that may differ. */
  readonly without: readonly string[]
}

/** A row as text, with its fields sorted. */
export function textOf(row: TruthRow, { isToTheMinute, without }: Precision): string {
  const compared = Object.entries(row).filter(([name]) => !without.includes(name))
  const text = JSON.stringify(canonical(Object.fromEntries(compared)))
  return isToTheMinute ? toTheMinute(text) : text
}

/** Cuts the instants in a text to the minute. */
export const toTheMinute = (text: string): string => text.replaceAll(/(T\d\d:\d\d):\d\dZ/g, '$1')

/** Identifies a row among those of all streams and channels. */
export function nameOf(stream: string, row: TruthRow): string {
  return `${stream} ${JSON.stringify(row.channel_id)} ${identityOf(stream, row)}`
}

/** Counts the rows of each identity. */
export function countRows(rows: Rows, toName = (name: string) => name): Map<string, number> {
  return countTexts([...rows].flatMap(([stream, each]) => each.map((row) => toName(nameOf(stream, row)))))
}

/** Splits rows into those that the others have too, as often, and those that they lack. */
export function compareRows(rows: TruthRows, others: TruthRows, toText: ToText) {
  const unmatched = countTexts(others.map(toText))
  const common: TruthRow[] = []
  const extra: TruthRow[] = []
  for (const row of rows) {
    const text = toText(row)
    const count = unmatched.get(text) ?? 0
    unmatched.set(text, count - 1)
    if (count > 0) common.push(row)
    else extra.push(row)
  }
  return { common, extra }
}

export function countTexts(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, 1 + (counts.get(text) ?? 0))
  return counts
}

/** @throws unless all expected rows are present, as often */
export function requirePresent(name: string, expected: TruthRows, present: TruthRows, toText: ToText): void {
  requireNone(name, 'missing', compareRows(expected, present, toText).extra, present)
}

/** @throws if there are such rows, with the first of them and its counterparts on the other side */
export function requireNone(name: string, what: string, [first, ...others]: TruthRows, otherSide: TruthRows): void {
  if (first === undefined) return
  const alike = otherSide.filter((row) => identityOf(name, row) === identityOf(name, first))
  const shown = `${JSON.stringify(first)}; on the other side: ${JSON.stringify(alike)}`
  throw new Error(`${1 + others.length} rows of ${name} are ${what}: ${shown}`)
}

/** The time of a row on the service's wall clock; a row without a time counts as new. */
export function timeOf(row: TruthRow): WallTime {
  const [instant] = timesOf(row)
  return instant === undefined ? Number.POSITIVE_INFINITY : wallTimeAt(instant, 'Asia/Shanghai')
}

/** Whether any time of a row is at or after this one. */
export function isYounger(row: TruthRow, than: WallTime): boolean {
  return timesOf(row).some((at) => wallTimeAt(at, 'Asia/Shanghai') >= than)
}
