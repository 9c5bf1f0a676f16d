import type { Columns } from '../../../core/column.ts'
import type { Stream } from '../../../core/stream.ts'
import { type BiColumn, withSource } from '../../view.ts'

/**
 * Makes columns of a view from those of a stream, with their declared type and words.
 * @param alias of the table in the view
 */
export function streamColumns<const C extends Columns>(stream: Stream & { readonly columns: C }, alias: string) {
  return (name: keyof C & string): BiColumn => {
    const { type, source, words } = stream.columns[name]
    const field = source.kind === 'field' ? `${stream.section} ${source.field}` : undefined
    const viewType = type === 'timestamptz' ? 'timestamp with time zone' : type
    return { type: viewType, sql: `${alias}.${name}`, words: withSource(words, field) }
  }
}
