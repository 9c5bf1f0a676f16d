import { type Language, languages } from '../core/column.ts'
import { isLoopback } from '../core/loopback.ts'
import { parseWallTime } from '../core/wall-clock.ts'
import type { SettingSource } from './setting-source.ts'

interface Rule<T> {
  /** Returned if the variable is not set, or its value is refused. */
  readonly fallback: T
  /** What follows "it should be" in the message. */
  readonly expected: string
  readonly isSecret?: boolean
}

/** Reads a setting with `parse`, and refuses it if that returns undefined. */
export function readValue<T>(
  source: SettingSource,
  name: string,
  { fallback, expected, isSecret = false }: Rule<T>,
  parse: (given: string) => T | undefined,
): T {
  const given = source.value(name)
  if (given === undefined) return fallback
  const value = parse(given)
  if (value !== undefined) return value
  source.refuse(`${name} ${isSecret ? '(not shown) is not valid' : `is ${quote(given)}`}; it should be ${expected}`)
  return fallback
}

interface Bounds {
  readonly min: number
  readonly max: number
  readonly isInteger: boolean
  readonly unit: string
}

/** A decimal number from `min` to `max`. */
export function readNumber<T extends number | undefined>(
  source: SettingSource,
  name: string,
  fallback: T,
  { min, max, isInteger, unit }: Bounds,
): number | T {
  const expected = `a ${isInteger ? 'whole ' : ''}number of ${unit} from ${min} to ${max}`
  return readValue<number | T>(source, name, { fallback, expected }, (given) => {
    const number = /^\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN
    return number >= min && number <= max && (!isInteger || Number.isInteger(number)) ? number : undefined
  })
}

/** One of a few words; the first is the default. */
export function readChoice<const Word extends string>(
  source: SettingSource,
  name: string,
  words: readonly [Word, ...Word[]],
): Word {
  const rule = { fallback: words[0], expected: words.join(' or ') }
  return readValue<Word>(source, name, rule, (given) => words.find((word) => word === given))
}

/** Whether the URL is https, loopback http, or plain http that the operator allows. */
export function isSafeAddress(source: SettingSource, { protocol, hostname }: URL): boolean {
  const isPlainAllowed = readChoice(source, 'LIVEHOUSE_ALLOW_HTTP', ['0', '1']) === '1'
  return protocol === 'https:' || (protocol === 'http:' && (isLoopback(hostname) || isPlainAllowed))
}

/** Whether the text is a valid date, written `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  return text.length === 10 && parseWallTime(text) !== undefined
}

/** Quotes a value for a message, with control characters escaped and at most 80 characters. */
export function quote(given: string): string {
  return JSON.stringify(given.length > 80 ? `${given.slice(0, 80)}…` : given)
}

/** `LIVEHOUSE_LANG`: the language of the status page, alerts and database comments; undefined if not set. */
export function readLanguage(source: SettingSource): Language | undefined {
  return source.isSet('LIVEHOUSE_LANG') ? languages[readChoice(source, 'LIVEHOUSE_LANG', ['en', 'zh-CN'])] : undefined
}
