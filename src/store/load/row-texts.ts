import type { Cell, ColumnType } from '../../core/column.ts'
import type { LoadTable } from '../../core/stream.ts'

const LINE_FEED = 10

/**
 * Lines of values: commas between the values, `null` for NULL, `"` around every text and `\` before `"` and `\`. A line
 * is an array literal within its brackets (PostgreSQL manual, 8.15.6) as well as a line of CSV with the backslash as
 * escape character (COPY). JSON arrays have this form too, which the runtime writes many times faster. The buffer lies
 * outside of the heap, where the garbage collector would copy rows again and again that wait for their batch to fill.
 */
export class TextBuffer {
  #bytes: Buffer = Buffer.alloc(0)
  #end = 0

  /** @returns the bytes of all lines */
  add(values: readonly Cell[]): number {
    const json = jsonOf(values)
    // A UTF-16 code unit takes three bytes at most.
    this.#reserve(this.#end + json.length * 3)
    const length = this.#bytes.write(json, this.#end)
    // In the place of the opening bracket; the closing one is written over.
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

/** The columns that go to Postgres, `extra` last. */
export function loadedColumns({ columns }: LoadTable): readonly { readonly name: string; readonly type: ColumnType }[] {
  const declared = Object.entries(columns).map(([name, { type }]) => ({ name, type }))
  return [...declared, { name: 'extra', type: 'jsonb' }]
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
