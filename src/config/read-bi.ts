import type { BiSettings } from '../bi/bi-settings.ts'
import { maskable } from '../bi/views/fragments/masks.ts'
import type { PersonalData } from '../bi/view.ts'
import type { Language } from '../bi/view-statements.ts'
import { readLanguage, show } from './values.ts'
import type { SettingSource } from './setting-source.ts'

/** The currency of gifts, the list of what is masked and the language of the comments; undefined where none is set. */
export function readBi(source: SettingSource): BiSettings | undefined {
  const currency = readCurrency(source)
  const masked = readMask(source)
  const language = readCommentLanguage(source)
  const isGiven = currency !== undefined || masked !== undefined || language !== undefined
  return isGiven ? { currency, masked, ...(language && { language }) } : undefined
}

/** `LIVEHOUSE_LANG` as the database knows it. */
export function readCommentLanguage(source: SettingSource): Language | undefined {
  const language = readLanguage(source)
  return language === 'zh-CN' ? 'zh' : language
}

function readCurrency(source: SettingSource): string | undefined {
  const given = source.value('LIVEHOUSE_CURRENCY')
  if (given === undefined || /^[A-Z]{3}$/.test(given)) return given
  source.refuse(`LIVEHOUSE_CURRENCY is ${show(given)}; it should be three capital letters (ISO 4217), such as CNY`)
  return undefined
}

function readMask(source: SettingSource): readonly PersonalData[] | undefined {
  const given = source.value('LIVEHOUSE_MASK')
  if (given === undefined) return undefined
  if (given === 'none') return []
  const names = given.split(',').map((name) => name.trim())
  const known = maskable.filter((kind) => names.includes(kind))
  const unknown = names.filter((name) => !maskable.some((kind) => kind === name))
  for (const name of unknown) {
    source.refuse(
      `LIVEHOUSE_MASK names ${show(name)}; it should be none, or of ${maskable.join(', ')}, separated by commas`,
    )
  }
  return known
}
