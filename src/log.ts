import { pino } from 'pino'
import type { LogFields } from './core/log.ts'
import { formatWallTime, wallTimeAt } from './core/wall-clock.ts'
import { createRedactor } from './log/redact.ts'

interface LogOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Values to redact, also where they are escaped or encoded. */
  readonly secrets: readonly string[]
  /** If set, writes short lines for people, with times of this zone, instead of JSON. */
  readonly zoneOfPeople: string | undefined
  /** Writes one line, which ends with a line feed. */
  readonly write: (line: string) => void
}

/** A log that can learn more secrets while it runs, and can redact other output too. */
export type RedactingLog = ReturnType<typeof createLog>

/** Writes each event as one line, JSON or readable text, with secrets redacted by key and by value. */
export function createLog({ level, secrets, zoneOfPeople, write }: LogOptions) {
  const redactor = createRedactor(secrets)
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'event',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The redactor has already turned errors into objects. pino's serializer would fold causes into the message.
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
    /** Redacts this value from now on: a fetched token, a ticket, a generated password. */
    addSecret: redactor.add,
    /** Returns the text with all secrets redacted. */
    redact: redactor.text,
  }
}

/** Turns a JSON log line into a readable one: time of day, level, event, fields. */
function formatLogLine(json: string, timeZone: string): string {
  const line: unknown = JSON.parse(json)
  const { time, level, event, err, ...facts } = Object.fromEntries(Object.entries(Object(line)))
  const pairs = Object.entries(facts).map(([name, value]) => `${name}=${show(value)}`)
  const at = formatWallTime(wallTimeAt(Date.parse(String(time)), timeZone))
  const head = [at.slice(11, 19), String(level).padEnd(5), String(event), ...pairs].join(' ')
  return `${[head, ...errorLines(err)].join('\n')}\n`
}

/** An error and its causes, indented: a LivehouseError as its message, any other error as its stack. */
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
