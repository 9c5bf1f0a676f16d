import stringWidth from 'string-width'
import { wrongUse } from '../core/errors.ts'
import { type Proof, proofs, type Window } from '../core/slice.ts'
import { formatWallMinute, formatWallTime, HOUR, largestUnitOf, MINUTE, wallTimeAt } from '../core/wall-clock.ts'
import type { CliContext } from './command.ts'

/** A table cell; undefined and null are shown as empty. */
export type TableCell = string | number | bigint | boolean | null | undefined

/** Control characters, shown as a space, as they could move the cursor. */
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u001f\u007f-\u009f]+/g

/**
 * Formats a table as aligned lines, the header first. Numbers (also in text, as Postgres returns them) are aligned to
 * the right; Chinese characters take two columns.
 */
export function formatTable(header: readonly string[], rows: readonly (readonly TableCell[])[]): string[] {
  const texts = rows.map((row) => row.map((cell) => String(cell ?? '').replace(controls, ' ')))
  const columns = header.map((title, index) => {
    const cells = texts.map((row) => row[index] ?? '')
    const filled = cells.filter((cell) => cell !== '')
    const isNumeric = filled.length > 0 && filled.every((cell) => /^-?\d[\d,]*(\.\d+)?%?$/.test(cell))
    return { width: Math.max(...[title, ...cells].map((cell) => stringWidth(cell))), isNumeric }
  })
  return [header, ...texts].map((row) =>
    columns
      .map(({ width, isNumeric }, index) => {
        const cell = row[index] ?? ''
        const padding = ' '.repeat(width - stringWidth(cell))
        return isNumeric ? padding + cell : cell + padding
      })
      .join('  ')
      .trimEnd(),
  )
}

const units = { second: 's', minute: 'min', hour: 'h', day: 'days' }

/** A duration in its largest unit: `40 s`, `3 min`, `26 h`, `5 days`. */
export function formatAge(ms: number): string {
  const [count, unit] = largestUnitOf(ms)
  return `${count} ${units[unit]}`
}

/** Prints a result: one JSON object if `--json` is given, else lines of text. */
export function printResult({ print }: CliContext, isJson: boolean, result: object, lines: readonly string[]): void {
  if (isJson) print(JSON.stringify(result))
  else for (const line of lines) print(line)
}

/** Converts the keys of an object to snake_case, for JSON; keys of nested objects stay. */
export function toSnakeCase(object: object): Readonly<Record<string, unknown>> {
  const entries = Object.entries(object)
  return Object.fromEntries(
    entries.map(([name, value]) => [name.replace(/[A-Z]/g, (at) => `_${at.toLowerCase()}`), value]),
  )
}

/** A duration: `1.3 s`, `4 min 10 s`, `2 h 5 min`. */
export function formatDuration(ms: number): string {
  const tenths = Math.max(0, Math.round(ms / 100))
  const seconds = Math.floor(tenths / 10)
  if (seconds < MINUTE) return `${(tenths / 10).toFixed(1)} s`
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ${seconds % MINUTE} s`
  return `${Math.floor(seconds / HOUR)} h ${Math.floor((seconds % HOUR) / MINUTE)} min`
}

/** Returns a function that formats a time to the minute, on the wall clock of a zone. */
export function formatMinuteIn(timeZone: string): (at: Date) => string {
  return (at) => formatWallTime(wallTimeAt(at.getTime(), timeZone)).slice(0, 16)
}

/** `2026-01-01 00:00 to 2026-01-02 00:00`. */
export function formatRange({ from, to }: Window): string {
  return `${formatWallMinute(from)} to ${formatWallMinute(to)}`
}

/** `1 row`, `2 rows`. */
export function formatCount(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}

/** `2 verified, 1 short`: how many slices or partitions ended with each proof; zeros are left out. */
export function formatProofs(counts: Readonly<Partial<Record<Proof, number>>>): string {
  return proofs.flatMap((proof) => (counts[proof] ? [`${counts[proof]} ${proof}`] : [])).join(', ')
}

/** Lines of an `.env` file; a value with special characters is quoted. */
export function formatEnv(settings: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(settings).map(([name, value]) => {
    if (/^[\w.,:/@%?&=+-]+$/.test(value)) return `${name}=${value}`
    // Inside double quotes, a backslash and an n would become a line feed.
    const mark = ["'", '`', ...(value.includes('\\') ? [] : ['"'])].find((each) => !value.includes(each))
    if (mark === undefined) throw wrongUse(`the value of ${name} has too many kinds of quotes for a file of settings`)
    return `${name}=${mark}${value}${mark}`
  })
}
