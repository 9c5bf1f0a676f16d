import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ColumnType, Row } from '../core/column.ts'
import type { LoadTable } from '../core/stream.ts'
import type { Database } from './database.ts'
import { inputColumns, inputRows, keysMatch } from './input-rows.ts'
import { prepareToLoad } from './load.ts'
import { rowKeyColumn } from './table-part.ts'

/** A value that is not the same on both sides, as text; null for none. */
export interface DifferingCell {
  readonly column: string
  readonly warehouse: string | null
  readonly source: string | null
}

/** A row of the source that the warehouse lacks, or holds with other values. */
export interface DifferingRow {
  readonly kind: 'missing' | 'changed'
  /** What tells it apart in its partition. */
  readonly key: string
  /** As it came. */
  readonly row: Row
  /** None for a missing row. In the order of the table. */
  readonly cells: readonly DifferingCell[]
}

/**
 * Holds rows of one slice against the table, value by value, as loading them would: in Postgres, by its own types. A row that is
 * marked removed although it came differs in `removed_at`. Writes nothing. Keys must be distinct.
 * @returns what differs, in the order of the rows
 */
export async function compareRows(
  db: Kysely<Database>,
  into: LoadTable,
  rows: readonly Row[],
  timeZone: string,
): Promise<readonly DifferingRow[]> {
  if (rows.length === 0) return []
  const keyColumn = rowKeyColumn(into)
  const found = await db
    .transaction()
    .setAccessMode('read only')
    .execute(async (trx) => {
      await prepareToLoad(trx, timeZone)
      return (await comparison(into, rows, keyColumn).execute(trx)).rows
    })
  const differing = new Map(found.map((each) => [each.key, each]))
  return rows.flatMap((row): readonly DifferingRow[] => {
    const key = String(row[keyColumn])
    const each = differing.get(key)
    if (each === undefined) return []
    const cells = Object.keys(each.cells).map((column) => {
      const [warehouse = null, source = null] = each.cells[column] ?? []
      return { column, warehouse, source }
    })
    return [{ kind: each.is_missing ? 'missing' : 'changed', key, row, cells: each.is_missing ? [] : cells }]
  })
}

interface ComparedRow {
  readonly key: string
  readonly is_missing: boolean
  readonly cells: Readonly<Record<string, readonly (string | null)[]>>
}

function comparison(into: LoadTable, rows: readonly Row[], keyColumn: string): RawBuilder<ComparedRow> {
  const columns = inputColumns(into)
  const key = sql.ref(keyColumn)
  const cells = columns
    .filter(({ name }) => !into.key.includes(name))
    .map(({ name, type }) => {
      const [warehouse, source] = ['target', 'input'].map((side) => sql`${sql.raw(side)}.${sql.ref(name)}`)
      return sql`${sql.lit(name)}, case when ${warehouse} is distinct from ${source}
        then json_build_array(${asText(warehouse, type)}, ${asText(source, type)}) end`
    })
  const removed = into.marksRemoved
    ? [
        sql`'removed_at', case when target.removed_at is not null then json_build_array(target.removed_at::text, null) end`,
      ]
    : []
  return sql<ComparedRow>`
    with input as materialized (${inputRows(columns, rows)}),
    compared as (
      select input.${key}::text as key, target.${key} is null as is_missing,
        json_strip_nulls(json_build_object(${sql.join([...cells, ...removed])})) as cells
      from input left join ${sql.table(`livehouse.${into.table}`)} as target on ${keysMatch(into)}
    )
    select * from compared where is_missing or cells::text <> '{}'`
}

/** An address without its mask. */
function asText(value: RawBuilder<unknown> | undefined, type: ColumnType): RawBuilder<unknown> {
  return type === 'inet' ? sql`host(${value})` : sql`${value}::text`
}
