import { type RawBuilder, sql } from 'kysely'
import type { Cell, ColumnType, Row } from '../../core/column.ts'
import type { LoadTable } from '../../core/stream.ts'

/** A column of rows that go to Postgres. */
export interface InputColumn {
  readonly name: string
  readonly type: ColumnType
  /** The same value in every row of a slice: sent once. */
  readonly isShared: boolean
}

/** The columns of a table that come from the source, `extra` behind them. */
export function inputColumns(into: LoadTable): readonly InputColumn[] {
  const declared = Object.entries(into.columns).map(([name, { type, source }]) => ({
    name,
    type,
    isShared: source.kind === 'partition' || source.kind === 'serviceDay' || source.kind === 'constant',
  }))
  return [...declared, { name: 'extra', type: 'jsonb', isShared: false }]
}

/**
 * Rows as a table: shared values once, every other column as one array, unnested side by side in the select list. In
 * the FROM clause each of them would be stored by itself first.
 */
export function inputRows(columns: readonly InputColumn[], rows: readonly Row[]): RawBuilder<unknown> {
  const outputs = columns.map(({ name, type, isShared }) => {
    const values = isShared ? [] : rows.map((row) => row[name] ?? null)
    return isShared
      ? sql`${rows[0]?.[name] ?? null}::${sql.raw(type)} as ${sql.ref(name)}`
      : sql`unnest(${`{${cellsText(values)}}`}::${sql.raw(type)}[]) as ${sql.ref(name)}`
  })
  return sql`select ${sql.join(outputs)}`
}

/** The keys of `target` and `input` are equal. */
export function keysMatch(into: LoadTable): RawBuilder<unknown> {
  return sql.join(
    into.key.map((name) => sql`target.${sql.ref(name)} = input.${sql.ref(name)}`),
    sql` and `,
  )
}

/** Columns by name, separated by commas. */
export function refs(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(name)))
}

/** The same columns of `alias`, as one row value. */
export function qualified(alias: string, names: readonly string[]): RawBuilder<unknown> {
  return sql`(${sql.join(names.map((name) => sql`${sql.raw(alias)}.${sql.ref(name)}`))})`
}

/** What JSON escapes otherwise than Postgres reads it: control characters. */
const OTHER_ESCAPE = /\\[^"\\]/
const ESCAPED = /["\\]/g

/**
 * Values separated by commas, `null` for NULL, with `"` around every text and `\` before `"` and `\`. An array literal
 * has them so within its brackets (PostgreSQL manual, 8.15.6), and a line of CSV with the backslash as escape character
 * (COPY). It is what JSON has within its brackets, and the runtime writes that many times faster than anything put
 * together value by value.
 */
export function cellsText(values: readonly Cell[]): string {
  const json = JSON.stringify(values)
  // An escaped backslash before a letter looks like another escape: then the slow way is taken in vain, and does no
  // harm.
  return json.includes('\\') && OTHER_ESCAPE.test(json) ? values.map(cellText).join(',') : json.slice(1, -1)
}

function cellText(value: Cell): string {
  return typeof value === 'string' ? `"${value.replace(ESCAPED, '\\$&')}"` : String(value)
}
