import type { Row } from './column.ts'

/** How many characters a row holds: what it weighs in memory, and in a statement. */
export function textOf(row: Row): number {
  let sum = 0
  for (const name in row) {
    const value = row[name]
    if (typeof value === 'string') sum += value.length
  }
  return sum
}
