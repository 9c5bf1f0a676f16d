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

const UNQUOTED: ReadonlySet<ColumnType> = new Set([
  'bigint',
  'integer',
  'smallint',
  'boolean',
  'numeric',
  'numeric(14,2)',
])

/** The columns of a table that come from the source, `extra` behind them. */
export function inputColumns(into: LoadTable): readonly InputColumn[] {
  const declared = Object.entries(into.columns).map(([name, { type, source }]) => ({
    name,
    type,
    isShared: source.kind === 'partition' || source.kind === 'serviceDay' || source.kind === 'constant',
  }))
  return [...declared, { name: 'extra', type: 'jsonb', isShared: false }]
}

/** The rows, at least one, as a table: shared values once, every other column as one array. */
export function inputRows(columns: readonly InputColumn[], rows: readonly Row[]): RawBuilder<unknown> {
  const arrays = columns.filter(({ isShared }) => !isShared)
  const literals = arrays.map(
    ({ name, type }) => sql`${arrayLiteral(cellsOf(rows, name), !UNQUOTED.has(type))}::${sql.raw(type)}[]`,
  )
  const outputs = columns.map(({ name, type, isShared }) =>
    isShared ? sql`${rows[0]?.[name]}::${sql.raw(type)} as ${sql.ref(name)}` : sql`item.${sql.ref(name)}`,
  )
  const names = arrays.map(({ name }) => name)
  return sql`select ${sql.join(outputs)} from unnest(${sql.join(literals)}) as item (${refs(names)})`
}

function* cellsOf(rows: readonly Row[], name: string): Iterable<Cell> {
  for (const row of rows) yield row[name] ?? null
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
