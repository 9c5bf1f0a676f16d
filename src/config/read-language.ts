import { type Language, languages } from '../core/language.ts'
import type { SettingSource } from './setting-source.ts'
import { readChoice } from './values.ts'

/** `LIVEHOUSE_LANG`: in which language people are spoken to; undefined leaves it to whoever asks. */
export function readLanguage(source: SettingSource): Language | undefined {
  return source.isSet('LIVEHOUSE_LANG') ? readChoice(source, 'LIVEHOUSE_LANG', languages) : undefined
}
