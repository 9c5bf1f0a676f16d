import type { Cell } from '../core/column.ts'

const NEEDS_ESCAPE = /["\\]/
const ESCAPED = /["\\]/g

/**
 * A Postgres array literal of one column of many rows, such as `{"a",NULL,"b"}`: one text parameter instead of thousands.
 * `isText` quotes the values (PostgreSQL manual, 8.15.6).
 */
export function arrayLiteral(values: Iterable<Cell>, isText: boolean): string {
  let literal = ''
  for (const value of values) {
    literal += literal === '' ? '{' : ','
    if (value === null) literal += 'NULL'
    else literal += isText ? quoted(String(value)) : String(value)
  }
  return literal === '' ? '{}' : `${literal}}`
}

function quoted(text: string): string {
  return NEEDS_ESCAPE.test(text) ? `"${text.replace(ESCAPED, '\\$&')}"` : `"${text}"`
}
