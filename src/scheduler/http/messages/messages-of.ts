import { chinese } from './chinese.ts'
import { chineseLabels } from './chinese-labels.ts'
import { english } from './english.ts'
import { englishLabels } from './english-labels.ts'
import { formatsOf } from './formats.ts'
import type { Messages } from './messages.ts'
import type { Language } from '../../../core/language.ts'

/** The words of a language. */
export function messagesOf(language: Language): Messages {
  const words = language === 'en' ? { ...englishLabels, ...english } : { ...chineseLabels, ...chinese }
  return { ...words, language, formats: formatsOf(language) }
}
