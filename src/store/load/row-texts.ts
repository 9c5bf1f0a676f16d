import type { Cell, ColumnType } from '../../core/column.ts'
import type { LoadTable } from '../../core/stream.ts'

const LINE_FEED = 10

/**
 * Lines of values, with commas between values, `null` for NULL, `"` around each text, and `\` before `"` and `\`. A
 * line is both the inside of an array literal (PostgreSQL manual, 8.15.6) and a line of CSV whose escape character is
 * the backslash (COPY). JSON arrays have this form too, and the runtime writes them many times faster. The buffer lies
 * outside the heap, where the garbage collector would copy the waiting rows again and again until their batch is full.
 */
export class TextBuffer {
  #bytes: Buffer = Buffer.alloc(0)
  #end = 0

  /** Adds a line. @returns how many bytes all lines have */
  add(values: readonly Cell[]): number {
    const json = jsonOf(values)
    // A UTF-16 code unit takes three bytes at most.
    this.#reserve(this.#end + json.length * 3)
    const length = this.#bytes.write(json, this.#end)
    // Replaces the opening bracket; the next line overwrites the closing one.
    this.#bytes[this.#end] = LINE_FEED
    this.#end += length - 1
    return this.#end
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

/** The columns to load, `extra` last. */
export function loadedColumns({ columns }: LoadTable): readonly { readonly name: string; readonly type: ColumnType }[] {
  const declared = Object.entries(columns).map(([name, { type }]) => ({ name, type }))
  return [...declared, { name: 'extra', type: 'jsonb' }]
}

/** A JSON escape that Postgres reads differently: a control character. */
const OTHER_ESCAPE = /\\[^"\\]/
const ESCAPED = /["\\]/g

function jsonOf(values: readonly Cell[]): string {
  const json = JSON.stringify(values)
  // An escaped backslash before a letter matches too: then the slow way gives the same text.
  return json.includes('\\') && OTHER_ESCAPE.test(json) ? `[${values.map(cellText).join(',')}]` : json
}

function cellText(value: Cell): string {
  return typeof value === 'string' ? `"${value.replace(ESCAPED, '\\$&')}"` : String(value)
}
