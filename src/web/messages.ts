import { type Language, languages } from '../core/language.ts'
import type { StreamName } from '../core/stream.ts'
import { allStreams } from '../streams/registry.ts'
import { englishLabels, type Labels } from './words/labels-en.ts'
import { chineseLabels } from './words/labels-zh.ts'
import { english, type Sentences } from './words/sentences-en.ts'
import { chinese } from './words/sentences-zh.ts'
import { type Formats, formatsOf } from './formats.ts'

/** Every word of the page, with how its language writes numbers and times. */
export interface Messages extends Labels, Sentences {
  readonly language: Language
  /** What each stream is called. */
  readonly streams: Readonly<Record<StreamName, string>>
  readonly formats: Formats
}

/** The words of a language. */
export function messagesOf(language: Language): Messages {
  const words = language === 'en' ? { ...englishLabels, ...english } : { ...chineseLabels, ...chinese }
  const streams = allStreams.map(({ name, label }) => [name, language === 'en' ? label.en : label.zh])
  return { ...words, language, streams: Object.fromEntries(streams), formats: formatsOf(language) }
}

/** What may say in which language to answer, the strongest first. */
export interface LanguageWishes {
  /** Of `?lang=`. */
  readonly asked: string | null
  /** Of the cookie that an earlier `?lang=` left. */
  readonly remembered: string | undefined
  /** `LIVEHOUSE_LANG`. */
  readonly configured: Language | undefined
  /** The `Accept-Language` header. */
  readonly accepted: string | undefined
}

/** The language of a page; English where nobody asks for another that there is. */
export function chooseLanguage({ asked, remembered, configured, accepted }: LanguageWishes): Language {
  return languageOf(asked ?? '') ?? languageOf(remembered ?? '') ?? configured ?? preferred(accepted ?? '') ?? 'en'
}

/** Any Chinese is answered in ours, any English too. */
export function languageOf(tag: string): Language | undefined {
  const [primary = ''] = tag.trim().toLowerCase().split('-')
  return languages.find((language) => language.toLowerCase().split('-')[0] === primary)
}

/** RFC 9110, 12.5.4: `zh-CN,zh;q=0.9,en;q=0.8`. */
function preferred(accepted: string): Language | undefined {
  const ranges = accepted.split(',').flatMap((part) => {
    const [tag = '', ...parameters] = part.split(';')
    const weight = parameters.map((each) => /^\s*q=([\d.]+)\s*$/.exec(each)?.[1]).find((text) => text !== undefined)
    const language = languageOf(tag)
    const quality = weight === undefined ? 1 : Number(weight)
    return language === undefined || !(quality > 0) ? [] : [{ language, quality }]
  })
  return ranges.toSorted((a, b) => b.quality - a.quality)[0]?.language
}
