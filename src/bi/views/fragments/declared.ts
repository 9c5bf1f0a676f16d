import type { Columns } from '../../../core/column.ts'
import type { Stream } from '../../../core/stream.ts'
import { type BiColumn, type BiType, withSource } from '../../view.ts'

/**
 * Columns that a view takes over from the table of a stream, with the type and words that the stream declares.
 * @param alias of the table
 */
export function columnsOf<const C extends Columns>(stream: Stream & { readonly columns: C }, alias: string) {
  return (name: keyof C & string): BiColumn => {
    const column = stream.columns[name]
    if (column === undefined) throw new Error(`${stream.name} has no column ${name}`)
    const { type, source, words } = column
    const field = source.kind === 'field' ? `${stream.section} ${source.field}` : undefined
    return { type: viewTypes[type] ?? 'text', sql: `${alias}.${name}`, words: withSource(words, field) }
  }
}

/** Types of columns in a view; all others are text. */
const viewTypes: Readonly<Partial<Record<string, BiType>>> = {
  bigint: 'bigint',
  integer: 'integer',
  smallint: 'smallint',
  boolean: 'boolean',
  numeric: 'numeric',
  timestamptz: 'timestamp with time zone',
  date: 'date',
  inet: 'inet',
}
