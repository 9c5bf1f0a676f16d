import assert from 'node:assert/strict'
import type { Language } from '../core/column.ts'
import { largestUnitOf } from '../core/wall-clock.ts'
import { allStreams } from '../streams/registry.ts'
import { labels } from './words/labels.ts'
import { sentences } from './words/sentences.ts'

type Chosen<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends readonly [string, string] ? string : Chosen<Table[Key]>
}

/** Every word of the page, with how its language writes numbers and times. */
export interface Messages extends Chosen<typeof labels>, Chosen<typeof sentences> {
  readonly language: Language
  /** In HTML. */
  readonly languageTag: string
  readonly streams: Readonly<Record<string, string>>
  readonly formats: ReturnType<typeof formatsOf>
}

/** The words of a language. */
export function messagesOf(language: Language): Messages {
  const streams = allStreams.map(({ name, label }) => [name, label[language]])
  const languageTag = language === 'en' ? 'en' : 'zh-CN'
  const words = choose({ ...labels, ...sentences }, language === 'en' ? 0 : 1)
  return { ...words, language, streams: Object.fromEntries(streams), languageTag, formats: formatsOf(language) }
}

function choose<Table extends object>(table: Table, index: 0 | 1): Chosen<Table> {
  const entries = Object.entries(table).map(([key, value]) => [
    key,
    Array.isArray(value) ? value[index] : choose(value, index),
  ])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same keys, each with one of its two texts
  return Object.fromEntries(entries) as Chosen<Table>
}

/** A sentence with its values in place of `{name}`. */
export function fill(sentence: string, values: Readonly<Record<string, string | number>>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? assert.fail(`no ${name}`)))
}

/**
 * The first of some tags that is a language of ours, the most wanted first; each may be a list as a browser sends it
 * (`zh-CN,zh;q=0.9,en;q=0.8`). English where there is none.
 */
export function chooseLanguage(...wishes: readonly (string | null | undefined)[]): Language {
  return wishes.flatMap((wish) => (wish ?? '').split(',')).flatMap((tag) => languageOf(tag) ?? [])[0] ?? 'en'
}

/** Any kind of Chinese or English counts as ours. */
export function languageOf(tag: string): Language | undefined {
  const [primary = ''] = tag.trim().toLowerCase().split(/[-;]/)
  return (['en', 'zh'] as const).find((language) => language === primary)
}

/** How a language writes numbers and times. Wall clock readings are those of the service, whatever its zone. */
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
    /** `20 Nov 2026, 02:10`, of the service's wall clock. */
    wallTime: (wallTime: number): string => time.format(wallTime * 1000),
    /** `20 Nov`. */
    wallDay: (wallTime: number): string => day.format(wallTime * 1000),
    span: (ms: number): string => unit(...largestUnitOf(ms)),
  }
}
