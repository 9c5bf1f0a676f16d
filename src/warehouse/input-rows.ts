import { type RawBuilder, sql } from 'kysely'
import type { Cell, ColumnType, Row } from '../core/column.ts'
import type { LoadTable } from '../core/stream.ts'
import { arrayLiteral } from './array-literal.ts'

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
 * Rows as a table: shared values once, every other column as one array, unnested side by side in the select list. In the FROM
 * clause each of them would be stored by itself first. `valueOf` puts a column's parameter in place.
 */
export function inputRows(
  columns: readonly InputColumn[],
  valueOf: (column: InputColumn) => unknown,
): RawBuilder<unknown> {
  const outputs = columns.map((column) => {
    const { name, type, isShared } = column
    const value = sql`${valueOf(column)}`
    return isShared
      ? sql`${value}::${sql.raw(type)} as ${sql.ref(name)}`
      : sql`unnest(${value}::${sql.raw(type)}[]) as ${sql.ref(name)}`
  })
  return sql`select ${sql.join(outputs)}`
}

/** The parameter of a column for these rows, at least one. */
export function inputValue({ name, isShared }: InputColumn, rows: readonly Row[]): Cell {
  return isShared ? (rows[0]?.[name] ?? null) : arrayLiteral(rows.map((row) => row[name] ?? null))
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
