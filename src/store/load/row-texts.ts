import type { Cell, Row } from '../../core/column.ts'
import type { LoadTable } from '../../core/stream.ts'

const [OPENING, CLOSING, COMMA, NEWLINE] = [0x7b, 0x7d, 0x2c, 0x0a]

/**
 * Lists of values one after the other, as Postgres reads them: commas between the values, `null` for NULL, `"` around
 * every text and `\` before `"` and `\`. This is the form of an array literal within its brackets (PostgreSQL manual,
 * 8.15.6), and of a line of CSV with the backslash as escape character (COPY). JSON arrays have it too, which the
 * runtime writes many times faster. The buffer lies outside of the heap, where the garbage collector would copy rows
 * again and again that wait for their batch to fill.
 */
class TextBuffer {
  #bytes: Buffer = Buffer.alloc(0)
  /** The offset of the bracket after the last list. */
  #end = 0
  readonly #brackets: readonly [opening: number, between: number, closing: number]

  constructor(...brackets: readonly [number, number, number]) {
    this.#brackets = brackets
  }

  add(values: readonly Cell[]): void {
    const json = jsonOf(values)
    // A UTF-16 code unit takes three bytes at most.
    this.#reserve(this.#end + json.length * 3)
    const [opening, between, closing] = this.#brackets
    const length = this.#bytes.write(json, this.#end)
    this.#bytes[this.#end] = this.#end === 0 ? opening : between
    this.#end += length - 1
    this.#bytes[this.#end] = closing
  }

  text(): Buffer {
    return this.#bytes.subarray(0, this.#end + 1)
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(length, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#end)
    this.#bytes = larger
  }
}

/** Rows as lines of CSV, after an empty first line. */
export const createLines = (): TextBuffer => new TextBuffer(NEWLINE, NEWLINE, NEWLINE)

/**
 * The columns that go to Postgres, `extra` last. `values` collects an array literal; undefined where all rows of a
 * slice have the same value.
 */
export function inputColumns(into: LoadTable) {
  const declared = Object.entries(into.columns).map(([name, { type, source }]) => ({
    name,
    type,
    isShared: source.kind === 'partition' || source.kind === 'serviceDay' || source.kind === 'constant',
  }))
  return [...declared, { name: 'extra', type: 'jsonb' as const, isShared: false }].map(({ isShared, ...column }) => ({
    ...column,
    values: isShared ? undefined : new TextBuffer(OPENING, COMMA, CLOSING),
  }))
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
