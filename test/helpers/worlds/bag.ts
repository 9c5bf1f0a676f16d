import type { TruthRow } from '../../../src/emulator/truth.ts'
import { canonical } from '../read-table.ts'

/** What is to be compared: rows as texts, each as often as it is there. */
export type Bag = ReadonlyMap<string, { readonly row: TruthRow; readonly count: number }>
/** What each table is to hold. */
export type Rows = ReadonlyMap<string, readonly TruthRow[]>

/** How closely rows are compared in this scenario. */
export interface Precision {
  /** Times of gifts and signups came to the minute once, and may stay so. */
  readonly isToTheMinute: boolean
  /** This column had another name once, and may have been read so. */
  readonly without: string | undefined
}

export function bagOf(rows: readonly TruthRow[], toText: (row: TruthRow) => string): Bag {
  const bag = new Map<string, { row: TruthRow; count: number }>()
  for (const row of rows) {
    const text = toText(row)
    bag.set(text, { row, count: 1 + (bag.get(text)?.count ?? 0) })
  }
  return bag
}

export function intersect(a: Bag, b: Bag): Bag {
  return new Map(
    [...a].flatMap(([text, { row, count }]) => {
      const both = Math.min(count, b.get(text)?.count ?? 0)
      return both > 0 ? [[text, { row, count: both }] as const] : []
    }),
  )
}

/** What `a` has more of, each as often. */
export function difference(a: Bag, b: Bag): readonly TruthRow[] {
  return [...a].flatMap(([text, { row, count }]) =>
    Array.from({ length: Math.max(0, count - (b.get(text)?.count ?? 0)) }, () => row),
  )
}

/** A row as text, its fields in an order of their own. */
export function textOf(row: TruthRow, { isToTheMinute, without }: Precision): string {
  const { occurrence: _, ...values } = row
  const cut = (value: unknown) =>
    isToTheMinute && typeof value === 'string' ? value.replace(/(T\d\d:\d\d):\d\dZ$/, '$1') : value
  const entries = Object.entries(values)
    .filter(([name]) => name !== without)
    .map(([name, value]) => [name, cut(canonical(value))])
  return JSON.stringify(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)))
}
