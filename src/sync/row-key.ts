import type { Row } from '../core/column.ts'
import type { Stream } from '../core/stream.ts'

/** What tells the rows of one partition apart: the key columns that the items themselves give, as text. */
export function rowKey({ key, columns }: Stream): (row: Row) => string {
  const names = key.filter((name) => columns[name]?.source.kind === 'field')
  const [only, ...more] = names
  if (only !== undefined && more.length === 0) return (row) => String(row[only])
  return (row) => names.map((name) => row[name]).join('\u0000')
}
