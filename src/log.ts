import { pino } from 'pino'
import type { LogFields } from './core/log.ts'
import { formatWallTime, wallTimeAt } from './core/wall-clock.ts'
import { createRedactor } from './log/redact.ts'

interface LogOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Values that must never come out, in any spelling. */
  readonly secrets: readonly string[]
  /** Short lines for people, by the clock of this zone, instead of JSON. */
  readonly zoneOfPeople: string | undefined
  /** Takes one line, line feed included. */
  readonly write: (line: string) => void
}

/** A log that also learns secrets while it runs, and lends its redaction to whatever else is printed. */
export type RedactingLog = ReturnType<typeof createLog>

/** One event, one line: JSON, or short lines for people. Redacted by key and by value before it is written. */
export function createLog({ level, secrets, zoneOfPeople, write }: LogOptions) {
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
    { write: (line: string) => write(zoneOfPeople === undefined ? line : formatLogLine(line, zoneOfPeople)) },
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
    /** From now on this value never comes out: fetched tokens, tickets, made passwords. */
    addSecret: redactor.add,
    /** The text without any secret. */
    redact: redactor.text,
  }
}

/** A JSON log line as a short line for people: time of day, level, event, facts. */
function formatLogLine(json: string, timeZone: string): string {
  const line: unknown = JSON.parse(json)
  const { time, level, event, err, ...facts } = Object.fromEntries(Object.entries(Object(line)))
  const pairs = Object.entries(facts).map(([name, value]) => `${name}=${show(value)}`)
  const at = formatWallTime(wallTimeAt(Date.parse(String(time)), timeZone))
  const head = [at.slice(11, 19), String(level).padEnd(5), String(event), ...pairs].join(' ')
  return `${[head, ...errorLines(err)].join('\n')}\n`
}

/** An error and its causes, indented: ours by their message, which says all, others with their stack. */
function errorLines(error: unknown): string[] {
  if (error === undefined || error === null) return []
  const { name, stack, message, cause } = Object.fromEntries(Object.entries(Object(error)))
  const text =
    typeof stack === 'string' && name !== 'LivehouseError' ? stack : typeof message === 'string' ? message : show(error)
  return [...text.split('\n').map((line) => `    ${line}`), ...(cause === undefined ? [] : ['    because of'])].concat(
    errorLines(cause),
  )
}

function show(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
}
