import type { TruthFacts } from './truth-facts.ts'

type Cells = readonly (string | number | null)[]
export type Answer = readonly Cells[]

/** A question of a manager: the SQL that answers it, and the answer computed from the service's truth without SQL. */
export interface Question {
  readonly title: string
  readonly sql: string
  readonly answer: (facts: TruthFacts) => Answer
}

/** Returns `{ key, rows }` for each group, in the order of the keys. Rows without a key are left out. */
export function groupBy<Row>(rows: readonly Row[], keyOf: (row: Row) => string | null) {
  return [...Map.groupBy(rows, keyOf)]
    .flatMap(([key, group]) => (key === null ? [] : [{ key, rows: group }]))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
}

/** How often each key occurs, the most frequent first. */
export function countBy<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Answer {
  const counts = groupBy(rows, keyOf).map((group) => [group.key, group.rows.length] as const)
  return descending(counts, 1)
}

/** The rows of the days from the first to the last, in days of Asia/Shanghai. */
export function between<Row extends { readonly day: string }>(rows: readonly Row[], first: string, last = '9999') {
  return rows.filter(({ day }) => day >= first && day <= last)
}

/** The values by which rows are grouped, counted and added up. */
export const by = {
  channel: <T>({ channel }: { readonly channel: T }) => channel,
  viewer: <T>({ viewer }: { readonly viewer: T }) => viewer,
  person: <T>({ person }: { readonly person: T }) => person,
  watch: ({ watch }: { readonly watch: number }) => watch,
}

export function sum<Row>(rows: readonly Row[], valueOf: (row: Row) => number): number {
  return rows.reduce((total, row) => total + valueOf(row), 0)
}

export function distinct<Row>(rows: readonly Row[], valueOf: (row: Row) => string | null): number {
  return new Set(rows.map(valueOf).filter((value) => value !== null)).size
}

/** As `round(seconds / 3600.0, 1)` writes it. */
export const hours = (seconds: number): string => rounded(seconds / 360)

/** As `round(x, 1)` writes it. @param tenths ten times x */
export const rounded = (tenths: number): string => (Math.round(tenths) / 10).toFixed(1)

/** Sorts by a column, the largest first, and equal rows by their first cell. */
export function descending<Row extends Cells>(rows: readonly Row[], column: number): readonly Row[] {
  return rows.toSorted((a, b) => Number(b[column]) - Number(a[column]) || (String(a[0]) < String(b[0]) ? -1 : 1))
}
