import type { Cell, ColumnType, Row } from '../../core/column.ts'
import type { LoadTable } from '../../core/stream.ts'

/**
 * Lists of values one after the other, as Postgres reads them: commas between the values, `null` for NULL, `"` around
 * every text and `\` before `"` and `\`. This is the form of an array literal within its brackets (PostgreSQL manual,
 * 8.15.6), and of a line of CSV with the backslash as escape character (COPY). JSON arrays have it too, which the
 * runtime writes many times faster. The buffer lies outside of the heap, where the garbage collector would copy rows
 * again and again that wait for their batch to fill.
 */
export class TextBuffer {
  #bytes: Buffer = Buffer.alloc(0)
  #end = 0
  readonly #separator: number

  /** @param separator of the lists, one character */
  constructor(separator: string) {
    this.#separator = separator.charCodeAt(0)
  }

  add(values: readonly Cell[]): void {
    const json = jsonOf(values)
    // A UTF-16 code unit takes three bytes at most.
    this.#reserve(this.#end + json.length * 3)
    const length = this.#bytes.write(json, this.#end)
    // In the place of the opening bracket; the closing one is written over.
    this.#bytes[this.#end] = this.#separator
    this.#end += length - 1
  }

  text(): Buffer {
    return this.#bytes.subarray(1, this.#end)
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(length, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#end)
    this.#bytes = larger
  }
}

/** The columns that go to Postgres, `extra` last. */
export function loadedColumns({ columns }: LoadTable): readonly { readonly name: string; readonly type: ColumnType }[] {
  const declared = Object.entries(columns).map(([name, { type }]) => ({ name, type }))
  return [...declared, { name: 'extra', type: 'jsonb' }]
}

/** The rows of such lines: `null` is NULL, and all others are text. */
export function rowsOf(lines: string, names: readonly string[]): readonly Row[] {
  const texts = lines.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[^,\n]+/gs) ?? []
  const cells = texts.map((text) =>
    text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/gs, '$1') : text === 'null' ? null : text,
  )
  return Array.from({ length: cells.length / names.length }, (_, row) =>
    Object.fromEntries(names.map((name, at) => [name, cells[row * names.length + at] ?? null])),
  )
}

/** An escape of JSON that Postgres reads otherwise: a control character. */
const OTHER_ESCAPE = /\\[^"\\]/
const ESCAPED = /["\\]/g

function jsonOf(values: readonly Cell[]): string {
  const json = JSON.stringify(values)
  // An escaped backslash before a letter looks the same: the slow way is taken for nothing, which does no harm.
  return json.includes('\\') && OTHER_ESCAPE.test(json) ? `[${values.map(cellText).join(',')}]` : json
}

function cellText(value: Cell): string {
  return typeof value === 'string' ? `"${value.replace(ESCAPED, '\\$&')}"` : String(value)
}
