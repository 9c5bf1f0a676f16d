import { type Language, languages } from '../core/column.ts'
import { isLoopback } from '../core/loopback.ts'
import { parseWallTime } from '../core/wall-clock.ts'
import type { SettingSource } from './setting-source.ts'

interface Rule<T> {
  /** Also of a value that was refused. */
  readonly fallback: T
  /** What it should be, after "it should be". */
  readonly expected: string
  readonly isSecret?: boolean
}

/** A value as `parse` reads it; where that gives undefined, it is refused. */
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
  source.refuse(`${name} ${isSecret ? '(not shown) is not right' : `is ${show(given)}`}; it should be ${expected}`)
  return fallback
}

interface Bounds {
  readonly min: number
  readonly max: number
  readonly isInteger: boolean
  readonly unit: string
}

/** A decimal number within bounds, ends included. */
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

/** Whether what is sent there cannot be read on the way, or an operator has allowed that. */
export function isSafeAddress(source: SettingSource, { protocol, hostname }: URL): boolean {
  const isPlainAllowed = readChoice(source, 'LIVEHOUSE_ALLOW_HTTP', ['0', '1']) === '1'
  return protocol === 'https:' || (protocol === 'http:' && (isLoopback(hostname) || isPlainAllowed))
}

/** Whether this is a date that exists, written `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  return text.length === 10 && parseWallTime(text) !== undefined
}

/** A value in a message: quoted, control characters visible, cut to a readable length. */
export function show(given: string): string {
  return JSON.stringify(given.length > 80 ? `${given.slice(0, 80)}…` : given)
}

/** `LIVEHOUSE_LANG`: the language of pages, alerts and comments; undefined where it is not set. */
export function readLanguage(source: SettingSource): Language | undefined {
  return source.isSet('LIVEHOUSE_LANG') ? languages[readChoice(source, 'LIVEHOUSE_LANG', ['en', 'zh-CN'])] : undefined
}
