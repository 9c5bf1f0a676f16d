import type { Cell } from '../core/column.ts'

/** What JSON escapes otherwise than Postgres reads it: control characters. */
const OTHER_ESCAPE = /\\[^"\\]/
const ESCAPED = /["\\]/g

/**
 * Values separated by commas, `null` for NULL, with `"` around every text and `\` before `"` and `\`. An array literal has them so within
 * its brackets (PostgreSQL manual, 8.15.6), and a line of CSV with the backslash as escape character (COPY). It is what JSON has within
 * its brackets, and the runtime writes that many times faster than anything put together value by value.
 */
export function cellsText(values: readonly Cell[]): string {
  const json = JSON.stringify(values)
  // An escaped backslash before a letter looks like another escape: then the slow way is taken in vain, and does no harm.
  return json.includes('\\') && OTHER_ESCAPE.test(json) ? values.map(cellText).join(',') : json.slice(1, -1)
}

function cellText(value: Cell): string {
  return typeof value === 'string' ? `"${value.replace(ESCAPED, '\\$&')}"` : String(value)
}
