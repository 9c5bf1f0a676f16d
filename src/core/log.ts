/** Facts of one event. The logger redacts secrets among them, by key and by value. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * One event, one line: `event` is a stable dotted name (`slice.ended`), the facts are fields.
 * info: run and slice started and ended; warn: retry storms, short, quarantine; error: failed, with `err`.
 */
export interface Log {
  readonly debug: (event: string, fields?: LogFields) => void
  readonly info: (event: string, fields?: LogFields) => void
  readonly warn: (event: string, fields?: LogFields) => void
  readonly error: (event: string, fields?: LogFields) => void
}
