import { secretPattern } from '../core/secret-pattern.ts'

const HIDDEN = '[redacted]'
const MAX_DEPTH = 8
const MAX_PASSING = 64
/** The last two are fields of Postgres' errors, which may quote a row. */
const secretKey = /secret|token|authorization|passw(or)?d|tikect|ticket|cookie|credential|api_?key|^(detail|where)$/i
/**
 * Secrets that are not among the given ones: passwords in URLs, bearer tokens, and parameters whose name says so. No
 * part of a name is unbounded: a service's text of a megabyte is searched in a tenth of a second.
 */
const secretShapes: readonly (readonly [RegExp, string])[] = [
  [/(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s:/@]*):[^\s/@]+@/gi, `$1:${HIDDEN}@`],
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${HIDDEN}`],
  [/([?&][\w-]{0,60}(?:secret|token|password|tikect|ticket)[\w-]{0,60}=)[^&\s"']+/gi, `$1${HIDDEN}`],
]

/** Redacts by key and by value: the given secrets wherever they stand, percent-encoded and JSON-escaped forms too. */
export function createRedactor(secrets: readonly string[]) {
  const known = new Set(secrets)
  let passing: readonly string[] = []
  let pattern = secretPattern(known)

  /** `passing`: one of many that follow one another, such as a token; only the youngest are kept. */
  const add = (secret: string, kind?: 'passing'): void => {
    if (kind === 'passing') passing = [...passing.filter((each) => each !== secret), secret].slice(-MAX_PASSING)
    else known.add(secret)
    pattern = secretPattern(new Set([...known, ...passing]))
  }

  const text = (given: string): string => {
    const withoutKnown = pattern ? given.replace(pattern, HIDDEN) : given
    return secretShapes.reduce((result, [shape, replacement]) => result.replace(shape, replacement), withoutKnown)
  }

  const value = (given: unknown, path: readonly object[]): unknown => {
    if (typeof given === 'string') return text(given)
    if (typeof given === 'number' || typeof given === 'bigint') {
      const shown = text(String(given))
      return typeof given === 'number' && shown === String(given) ? given : shown
    }
    if (typeof given === 'function' || typeof given === 'symbol') return undefined
    if (typeof given !== 'object' || given === null) return given
    if (path.includes(given)) return '[circular]'
    if (path.length >= MAX_DEPTH) return '[deep]'
    return object(given, [...path, given])
  }

  /** What no log call has, such as a Map or bytes, shows as an empty object or as numbers. */
  const object = (given: object, path: readonly object[]): unknown => {
    if (given instanceof Date) return Number.isNaN(given.getTime()) ? 'Invalid Date' : given.toISOString()
    if (given instanceof URL) return text(given.href)
    if (Array.isArray(given)) return given.map((each: unknown) => value(each, path))
    return entries([...(given instanceof Error ? errorEntries(given) : []), ...Object.entries(given)], path)
  }

  const entries = (pairs: readonly (readonly [string, unknown])[], path: readonly object[]): Record<string, unknown> =>
    Object.fromEntries(
      pairs.map(([key, each]) => {
        const isSecret = secretKey.test(key) && each !== null && each !== undefined && typeof each !== 'boolean'
        return [text(key), isSecret ? HIDDEN : value(each, path)]
      }),
    )

  /** A copy fit for JSON: errors as objects with their causes, cycles and depth cut, secrets replaced. */
  const copy = (fields: Readonly<Record<string, unknown>>) => entries(Object.entries(fields), [fields])
  return { add, text, fields: copy }
}

function errorEntries(error: Error): [string, unknown][] {
  const { name, message, stack, cause } = error
  return Object.entries({ name, message, stack, ...(cause === undefined ? {} : { cause }) })
}
