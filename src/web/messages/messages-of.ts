import { chinese } from './chinese.ts'
import { chineseLabels } from './chinese-labels.ts'
import { english, type Sentences } from './english.ts'
import { englishLabels, type Labels } from './english-labels.ts'
import { type Formats, formatsOf } from './formats.ts'
import type { Language } from '../../core/language.ts'
import type { StreamName } from '../../core/stream.ts'
import { allStreams } from '../../streams/registry.ts'

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
