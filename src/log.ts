import { pino } from 'pino'
import type { Log, LogFields } from './core/log.ts'
import { formatLogLine } from './log/format-log-line.ts'
import { createRedactor } from './log/redact.ts'

interface LogOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Values that must never come out, in any spelling. */
  readonly secrets: readonly string[]
  /** Short lines for people instead of JSON. */
  readonly isForPeople: boolean
  /** Takes one line, line feed included. */
  readonly write: (line: string) => void
}

/** A log that also learns secrets while it runs, and lends its redaction to whatever else is printed. */
export interface RedactingLog extends Log {
  /** From now on this value never comes out: fetched tokens, tickets, made passwords. */
  readonly addSecret: (value: string) => void
  /** The text without any secret. */
  readonly redact: (text: string) => string
}

/** One event, one line: JSON, or short lines for people. Redacted by key and by value before it is written. */
export function createLog({ level, secrets, isForPeople, write }: LogOptions): RedactingLog {
  const redactor = createRedactor(secrets)
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'event',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Errors come here as objects already; pino's own serializer would fold their causes into the message.
      serializers: { err: (error: unknown) => error },
    },
    { write: (line: string) => write(isForPeople ? formatLogLine(line) : line) },
  )
  const at =
    (method: 'debug' | 'info' | 'warn' | 'error') =>
    (event: string, fields: LogFields = {}): void => {
      if (logger.isLevelEnabled(method)) logger[method](redactor.fields(fields), redactor.text(event))
    }
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    addSecret: redactor.add,
    redact: redactor.text,
  }
}
