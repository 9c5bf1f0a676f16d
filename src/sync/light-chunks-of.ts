import type { Row } from '../core/column.ts'
import { textOf } from '../core/text-of.ts'

/** Characters a statement, for rows of hundreds of answers. */
const MOST_TEXT = 2_000_000

/** All rows in their order, in chunks of up to `most` and of no more text than a statement takes easily, unless one row has more. */
export function* lightChunksOf(rows: readonly Row[], most: number): Iterable<readonly Row[]> {
  let chunk: Row[] = []
  let text = 0
  for (const row of rows) {
    const own = textOf(row)
    if (chunk.length > 0 && (chunk.length >= most || text + own > MOST_TEXT)) {
      yield chunk
      chunk = []
      text = 0
    }
    chunk.push(row)
    text += own
  }
  if (chunk.length > 0) yield chunk
}
