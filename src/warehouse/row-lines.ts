import type { Cell, Row } from '../core/column.ts'
import type { LoadTable } from '../core/stream.ts'
import { inputColumns } from './input-rows.ts'

/** What JSON escapes otherwise than COPY: control characters. */
const OTHER_ESCAPE = /\\[^"\\]/
const COMMA = 0x2c
const NEWLINE = 0x0a
const FIRST_CAPACITY = 65_536

/** Rows of one slice that a run writes, held row by row as COPY takes them. */
export interface RowLines {
  readonly append: (rows: readonly Row[]) => void
  readonly size: () => number
  /** The columns of the lines, in their order: the run's, and those of the rows. */
  readonly columns: readonly string[]
  /**
   * CSV without a header, in UTF-8: `"` around every text, `\` before `"` and `\`, `null` for NULL. Valid until the next call of
   * `append` or `clear`.
   */
  readonly csv: () => Buffer
  /** Those of the rows that COPY cannot take in this form: they hold control characters. */
  readonly others: () => readonly Row[]
  /** All rows again. */
  readonly rows: () => readonly Row[]
  /** Takes all rows out; what they took is kept for the next ones. */
  readonly clear: () => void
}

/**
 * Collects rows outside of the heap, as they will be sent. JSON is, within the brackets, a line of CSV whose escape character is the
 * backslash (PostgreSQL manual, COPY), and the runtime writes it many times faster than anything put together piece by piece.
 */
export function createRowLines(into: LoadTable, runId: string): RowLines {
  const columns = inputColumns(into).map(({ name }) => name)
  const values = columns.map((): Cell => null)
  const start = Buffer.from(runId)
  let bytes = Buffer.allocUnsafeSlow(FIRST_CAPACITY)
  let end = 0
  let size = 0
  let others: Row[] = []

  const reserve = (more: number): void => {
    if (end + more <= bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(end + more, bytes.length * 2))
    bytes.copy(larger, 0, 0, end)
    bytes = larger
  }
  const jsonOf = (row: Row): string => {
    for (let index = 0; index < columns.length; index += 1) values[index] = row[columns[index] ?? ''] ?? null
    return JSON.stringify(values)
  }
  /** Row by row: lines put together first would be garbage of several times their size. */
  const add = (json: string): void => {
    // A UTF-16 code unit takes three bytes at most.
    reserve(start.length + json.length * 3)
    end += start.copy(bytes, end)
    const length = bytes.write(json, end)
    // The brackets are those of an array: a comma and the end of the line take their places.
    bytes[end] = COMMA
    end += length
    bytes[end - 1] = NEWLINE
  }

  return {
    append: (rows) => {
      size += rows.length
      for (const row of rows) {
        const json = jsonOf(row)
        // An escaped backslash before a letter looks like another escape: then the slow way is taken in vain, and does no harm.
        if (json.includes('\\') && OTHER_ESCAPE.test(json)) others.push(row)
        else add(json)
      }
    },
    size: () => size,
    columns: ['run_id', ...columns],
    csv: () => bytes.subarray(0, end),
    others: () => others,
    rows: () => [...readLines(bytes.toString('utf8', 0, end), columns), ...others],
    clear: () => {
      end = 0
      size = 0
      others = []
    },
  }
}

function readLines(text: string, columns: readonly string[]): readonly Row[] {
  const lines = text.split('\n').slice(0, -1)
  return lines.map((line) => {
    const [, ...cells]: readonly Cell[] = JSON.parse(`[${line}]`)
    return Object.fromEntries(columns.map((name, index) => [name, cells[index] ?? null]))
  })
}
