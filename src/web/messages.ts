import assert from 'node:assert/strict'
import type { Language } from '../core/column.ts'
import { largestUnitOf } from '../core/wall-clock.ts'
import { allStreams } from '../streams/registry.ts'
import { labels } from './words/labels.ts'
import { sentences } from './words/sentences.ts'

type InOneLanguage<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends readonly [string, string] ? string : InOneLanguage<Table[Key]>
}

/** All texts of the page in one language, and how that language writes numbers and times. */
export interface Messages extends InOneLanguage<typeof labels>, InOneLanguage<typeof sentences> {
  readonly language: Language
  /** The value of `lang` in HTML. */
  readonly languageTag: string
  readonly streams: Readonly<Record<string, string>>
  readonly formats: ReturnType<typeof formatsOf>
}

/** Returns the texts of a language. */
export function messagesOf(language: Language): Messages {
  const streams = allStreams.map(({ name, label }) => [name, label[language]])
  const languageTag = language === 'en' ? 'en' : 'zh-CN'
  const words = choose({ ...labels, ...sentences }, language === 'en' ? 0 : 1)
  return { ...words, language, streams: Object.fromEntries(streams), languageTag, formats: formatsOf(language) }
}

function choose<Table extends object>(table: Table, index: 0 | 1): InOneLanguage<Table> {
  const entries = Object.entries(table).map(([key, value]) => [
    key,
    Array.isArray(value) ? value[index] : choose(value, index),
  ])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same keys, each with one of its two texts
  return Object.fromEntries(entries) as InOneLanguage<Table>
}

/** Replaces each `{name}` in a sentence by its value. */
export function fill(sentence: string, values: Readonly<Record<string, string | number>>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? assert.fail(`no ${name}`)))
}

/**
 * Chooses the first language that the page has, or else English. Wishes come in order of preference; each may be a list
 * as a browser sends it (`zh-CN,zh;q=0.9,en;q=0.8`).
 */
export function chooseLanguage(...wishes: readonly (string | null | undefined)[]): Language {
  return wishes.flatMap((wish) => (wish ?? '').split(',')).flatMap((tag) => languageOf(tag) ?? [])[0] ?? 'en'
}

/** The page's language for a tag, by its primary subtag alone: `zh-TW` is `zh`. */
export function languageOf(tag: string): Language | undefined {
  const [primary = ''] = tag.trim().toLowerCase().split(/[-;]/)
  return (['en', 'zh'] as const).find((language) => language === primary)
}

/** Formats numbers and times for a language. Wall-clock times need no zone: they are the service's already. */
function formatsOf(language: Language) {
  const locale = language === 'en' ? 'en-GB' : 'zh-CN'
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' } as const
  const date = { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'UTC' } as const
  const time = new Intl.DateTimeFormat(locale, { ...date, ...clock })
  const day = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' })
  const unit = (value: number, name: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'long' }).format(value)
  return {
    number: (value: number): string => whole.format(value),
    /** `20 Nov 2026, 02:10`. */
    wallTime: (wallTime: number): string => time.format(wallTime * 1000),
    /** `20 Nov`. */
    wallDay: (wallTime: number): string => day.format(wallTime * 1000),
    span: (ms: number): string => unit(...largestUnitOf(ms)),
  }
}
