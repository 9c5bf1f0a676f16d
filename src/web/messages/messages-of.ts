import { chinese } from './chinese.ts'
import { chineseLabels } from './chinese-labels.ts'
import { english, type Sentences } from './english.ts'
import { englishLabels, type Labels } from './english-labels.ts'
import { type Formats, formatsOf } from './formats.ts'
import type { Language } from '../../core/language.ts'

/** Every word of the page, with how its language writes numbers and times. */
export interface Messages extends Labels, Sentences {
  readonly language: Language
  readonly formats: Formats
}

/** The words of a language. */
export function messagesOf(language: Language): Messages {
  const words = language === 'en' ? { ...englishLabels, ...english } : { ...chineseLabels, ...chinese }
  return { ...words, language, formats: formatsOf(language) }
}
