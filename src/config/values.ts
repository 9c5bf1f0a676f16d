import { type Language, languages } from '../core/language.ts'
import { isTimeZone, parseWallTime } from '../core/wall-clock.ts'
import type { SettingSource } from './setting-source.ts'

interface NumberRule {
  readonly fallback: number
  readonly min: number
  readonly max: number
  readonly isInteger: boolean
  /** What it should be, after "it should be". */
  readonly expected: string
}

/** A decimal number within bounds. */
export function readNumber(source: SettingSource, name: string, rule: NumberRule): number {
  const given = source.value(name)
  if (given === undefined) return rule.fallback
  const number = /^\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN
  const isRight = number >= rule.min && number <= rule.max && (!rule.isInteger || Number.isInteger(number))
  if (!isRight) source.refuse(`${name} is ${show(given)}; it should be ${rule.expected}`)
  return isRight ? number : rule.fallback
}

/** One of a few words; the first is the default. */
export function readChoice<const Word extends string>(
  source: SettingSource,
  name: string,
  words: readonly [Word, ...Word[]],
): Word {
  const given = source.value(name)
  if (given === undefined) return words[0]
  const word = words.find((candidate) => candidate === given)
  if (word === undefined) source.refuse(`${name} is ${show(given)}; it should be ${words.join(' or ')}`)
  return word ?? words[0]
}

/** `0` or `1`. */
export function readFlag(source: SettingSource, name: string, fallback: '0' | '1'): boolean {
  return readChoice(source, name, fallback === '0' ? ['0', '1'] : ['1', '0']) === '1'
}

/** A date of the service's calendar, `YYYY-MM-DD`. */
export function readDate(source: SettingSource, name: string, fallback: string): string {
  const given = source.value(name)
  if (given === undefined || isDate(given)) return given ?? fallback
  source.refuse(`${name} is ${show(given)}; it should be a date that exists, written ${fallback}`)
  return fallback
}

/** An IANA time zone. */
export function readTimeZone(source: SettingSource, name: string, fallback: string): string {
  const given = source.value(name)
  if (given === undefined || isTimeZone(given)) return given ?? fallback
  source.refuse(`${name} is ${show(given)}; it should be a time zone such as ${fallback} or UTC`)
  return fallback
}

/** Whether this is a date that exists, written `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  return text.length === 10 && parseWallTime(text) !== undefined
}

/** A value in a message: quoted, control characters visible, cut to a readable length. */
export function show(given: string): string {
  return JSON.stringify(given.length > 80 ? `${given.slice(0, 80)}…` : given)
}

/** `LIVEHOUSE_LANG`: in which language people are spoken to; undefined leaves it to whoever asks. */
export function readLanguage(source: SettingSource): Language | undefined {
  return source.isSet('LIVEHOUSE_LANG') ? readChoice(source, 'LIVEHOUSE_LANG', languages) : undefined
}
